"""Create organizations from archives."""
