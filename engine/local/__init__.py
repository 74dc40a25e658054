"""vLLM on this computer, put together: what the setup has stored, what is on the disk, and the launch that follows."""
