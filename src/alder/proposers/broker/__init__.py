"""Between an agent in its sandbox and the model it asks: the key stays on our side."""
