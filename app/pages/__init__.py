"""The pages of the window: widgets and presenters put together."""
