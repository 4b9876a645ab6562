"""Null worlds: nothing can be discovered in them, so whatever is admitted is a mistake."""
