"""Benchmarks: each gives figures with targets. A baseline runs beside what it is compared with, in turn."""
