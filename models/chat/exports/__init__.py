"""Archives of an organization's data."""
