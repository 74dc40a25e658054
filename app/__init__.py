"""The window. Imports the engine, never the other way round."""
