"""The built-in proposer: sums of products of shapes, found without a list of laws.

Tests on polynomials say which variables act together, and covers split the law into such parts.
Shapes are grown from the grammar, with parameters on a grid; closed forms say what each would gain.
The compiled fitter polishes the best of them, and whole laws exchange, add, drop and split terms.
Constants are tidied, exponents first. Laws that are no sum are sought as sums behind an inverse:
views of the target under its square, inverse, sine or logarithm, written back afterwards.
"""
