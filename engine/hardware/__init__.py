"""What the machine is. Probes answer with values, never with exceptions: no driver is a finding, not a fault."""
