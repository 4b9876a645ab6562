"""Which of four given laws holds: the selector alone is measured."""
