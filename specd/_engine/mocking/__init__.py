"""A mock: a document is served without handlers, by its examples and by values of its schemas."""
