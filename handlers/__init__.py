"""What an HTTP caller can do: one package per service, one module per tag of its document."""
