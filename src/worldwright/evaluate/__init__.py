"""How good a dreamed world is: against the engine's own pictures at the same poses, and as others measure it."""
