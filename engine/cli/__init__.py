"""The headless front end: ``diffusion-desk SUBCOMMAND`` or ``python3 -m engine.cli``."""
