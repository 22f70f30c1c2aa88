"""Pages for people: the checkout and the references. API requests never come here."""
