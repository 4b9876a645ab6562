"""The built-in proposer: sums of products of shape functions, found by a beam over fits."""
