"""Law Revision Agents: they read evidence and say what to try next."""
