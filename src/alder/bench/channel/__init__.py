"""How much do the verifier's answers tell of protected outcomes? An attacker that wants to know."""
