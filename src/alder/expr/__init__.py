"""What a law can say: typed expression trees, their meaning, and their forms."""
