"""Laws from sampled states: libraries of terms, regression without derivatives, and polishing."""
