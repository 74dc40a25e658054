"""What the Engine page and the setup's launch share."""
