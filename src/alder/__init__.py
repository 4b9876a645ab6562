"""Alder discovers the laws of a world by acting in it."""
