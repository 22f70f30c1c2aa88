"""A service with a database on SQLite: specd and its peers, the ones in Python with SQLAlchemy."""
