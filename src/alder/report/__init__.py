"""What a ledger says, as one page and as text: the story of a study, its charts and its words."""
