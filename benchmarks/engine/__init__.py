"""The engine without a database: three operations, served by us and by peers."""
