"""Frozen dataclasses that every other room speaks in. Standard library only (checked by a test)."""
