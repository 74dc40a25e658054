"""SQLite and settings: the only room that writes SQL. One writer thread, versioned files, migrations."""
