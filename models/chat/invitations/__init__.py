"""Invitations to join the organization, by mail and by links."""
