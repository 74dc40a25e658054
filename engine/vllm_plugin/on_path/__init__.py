"""The folder that the engine gets on ``PYTHONPATH``; see :mod:`engine.vllm_plugin.on_path.engine`."""
