"""Laws of vector fields: relations among products of atoms, found by linear algebra."""
