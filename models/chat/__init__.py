"""The chat service's domain: realms, people, channels and messages."""
