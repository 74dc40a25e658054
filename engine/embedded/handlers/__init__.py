"""One module per group of endpoints. A handler checks, asks the engine, and writes the answer; it computes nothing."""
