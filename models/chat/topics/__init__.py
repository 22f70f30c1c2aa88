"""Topics, and what each user wants of them."""
