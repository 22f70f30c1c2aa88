"""The cost of people and invoices for the database and the servers, and the limit of one cell."""
