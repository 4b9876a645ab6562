"""Which experiment next: the one on which the laws that still stand disagree most."""
