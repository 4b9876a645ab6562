"""Any proposer, one harness: the same worlds with the search, models and agents."""
