"""The ledger: append-only, chained by digests; Evidence is replayed from it alone."""
