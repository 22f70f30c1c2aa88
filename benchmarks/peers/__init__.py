"""The services we are measured against, each written the way its own documentation writes it."""
