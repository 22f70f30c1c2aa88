"""User administration: creation, changes and deactivation."""
