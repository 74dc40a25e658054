"""Model files: fetched from a hub, adopted from disk, verified. See docs/checkpoints.md.

``catalogue`` says what there is, ``download`` brings it, ``adopt`` takes what is on this machine, ``verify`` proves it.
"""
