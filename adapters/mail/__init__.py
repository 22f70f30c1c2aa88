"""Mail: the protocol, and what speaks it (SMTP, or files in a folder)."""
