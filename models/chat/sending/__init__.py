"""Sending messages: drafts, recipients, copies, events and notices."""
