"""What runs beside the server: dumb loops over `try_..._one() -> bool` steps."""
