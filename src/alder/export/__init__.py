"""Laws for other programs: LaTeX, SymPy, Python, C and JAX, each with the scope guard."""
