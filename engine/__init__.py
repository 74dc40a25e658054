"""The headless half of Diffusion Desk: engines, reads, runs and their storage. No Qt anywhere below."""
