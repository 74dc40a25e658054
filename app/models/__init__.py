"""Plain data and Qt item models that presenters fill and widgets show."""
