"""Archives become organizations."""
