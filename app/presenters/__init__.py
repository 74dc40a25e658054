"""Between engine and widgets: the only code of the window that awaits the engine."""
