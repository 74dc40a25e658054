"""Widgets: Qt and engine.domain only."""
