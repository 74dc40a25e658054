"""Between the engine room and the widgets: the only code in the window that awaits the engine."""
