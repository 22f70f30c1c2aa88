"""A service with a database: specd, connexion and FastAPI, each with plain SQLAlchemy on SQLite."""
