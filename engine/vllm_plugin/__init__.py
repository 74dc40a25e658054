"""What runs inside vLLM: parts that stock vLLM does not have, added without a fork.

vLLM loads :class:`engine.vllm_plugin.model.DeskDiffusionGemma` when it is started with ``--model-class-overrides`` and
with the folder ``on_path`` on ``PYTHONPATH``. ``DESK_VLLM_PARTS`` names the parts; unset, everything is stock. These
files run with the engine's interpreter, which has vLLM's libraries and none of ours: they import vLLM, torch, numpy,
the standard library and each other. Outside, only :mod:`engine.vllm_plugin.protocol` may be imported.
"""
