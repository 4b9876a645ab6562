"""The verifier: rows nobody else has seen, tests on them, and what the answers may reveal."""
