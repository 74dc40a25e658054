"""Trains, exports and measures the demo model that ships in ``resources/demo_model``.

A developer's tool: it needs torch and transformers, which the application never does. Start with ``README.md``.
"""
