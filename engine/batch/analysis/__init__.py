"""What the answers are worth against a gold column, and what simpler readers would have got."""
