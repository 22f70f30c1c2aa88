"""Mail that becomes messages of channels."""
