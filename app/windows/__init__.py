"""Top-level windows and the composition root."""
