"""Tools of the desktop around the pages: command palette, map of the keys, the question at closing."""
