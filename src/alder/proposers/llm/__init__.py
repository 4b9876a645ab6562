"""A language model as Law Revision Agent: the brief it reads, its reply and its servers."""
