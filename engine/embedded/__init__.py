"""The embedded engine: a small DiffusionGemma on the CPU behind vLLM's HTTP wire."""
