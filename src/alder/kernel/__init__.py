"""The compiled engine: bytecode, its interpreter, and the solver around it."""
