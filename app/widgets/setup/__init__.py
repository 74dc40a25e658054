"""The parts of the setup page."""
