"""What a model costs to serve: bytes, the floor of a step, sessions and money. Arithmetic on its config."""
