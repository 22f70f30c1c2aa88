"""The cost of users and invoices for the database and the servers, and the limit of one
installation.
"""
