"""Mocks: documents are served without handlers, with their examples and values for their
schemas.
"""
