"""OpenAPI documents as data: reading, joining, traversing."""
