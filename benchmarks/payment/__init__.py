"""Five payment operations over SQLite and PostgreSQL, ours against the FastAPI peer."""
