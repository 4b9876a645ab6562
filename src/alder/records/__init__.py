"""The values that travel between the stages: frozen, compared by content."""
