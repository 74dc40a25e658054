"""HTTP to an engine: the only room that speaks it. Chat as typed events, reads, health, the live channel."""
