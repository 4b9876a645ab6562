"""The boundary of what can be known: a fixed library meets worlds it cannot fully say."""
