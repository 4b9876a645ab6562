"""Laws inverted: which action brings a world where it is wanted, within limits."""
