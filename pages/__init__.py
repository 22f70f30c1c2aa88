"""Pages for people: the checkout page and the reference of each service. API requests never come here."""
