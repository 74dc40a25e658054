"""What is kept on disk: one SQLite file a run, and the settings."""
