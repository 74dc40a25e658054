"""The reading method: from a typed question to a probability with the evidence whether to believe it."""
