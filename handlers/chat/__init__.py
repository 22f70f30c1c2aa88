"""The chat service's HTTP side: one module per tag of specs/chat.yaml, and what they share."""
