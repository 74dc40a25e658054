"""One module a page: widgets and presenters put together."""
