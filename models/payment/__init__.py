"""The payment service's tables and rules: projects, keys, methods, invoices and sessions."""
