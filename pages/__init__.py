"""Pages for people: the checkout and the references. They answer no API requests."""
