"""How the model generates: the content of its generation_config.json. Training needs it without ONNX."""

from __future__ import annotations

from tools.train_demo import tokenizer

GENERATION = {
    "_from_model_config": False,
    "bos_token_id": tokenizer.BOS,
    "eos_token_id": [tokenizer.EOS, tokenizer.END_OF_TURN],
    "pad_token_id": tokenizer.PAD,
    "max_new_tokens": 256,
    "max_denoising_steps": 48,
    "sampler_config": {"_cls_name": "EntropyBoundSamplerConfig", "entropy_bound": 0.1},
    "t_min": 0.4,
    "t_max": 0.8,
    "stability_threshold": 1,
    "confidence_threshold": 0.005,
}
