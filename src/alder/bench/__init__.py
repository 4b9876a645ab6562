"""Benchmarks; true laws live only here."""
