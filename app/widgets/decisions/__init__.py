"""Widgets of the Decisions page."""
