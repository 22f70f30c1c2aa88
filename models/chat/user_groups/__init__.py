"""User groups that people change: their settings, members, subgroups and end."""
