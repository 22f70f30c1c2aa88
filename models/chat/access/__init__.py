"""Who may do what: groups, permissions, audiences."""
