"""Sends mail, by SMTP or as files in a folder."""
