"""Changes of user groups: settings, members, subgroups and deactivation."""
