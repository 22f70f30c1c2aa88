"""What people and invoices cost the database and the servers: how much does one cell carry?"""
