"""Files that ship with the program: demo model, examples, icons, styles."""
