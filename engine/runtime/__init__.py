"""The engine's own Python environment: created from a hashed lock, verified, repaired, removed. The work is uv's."""
