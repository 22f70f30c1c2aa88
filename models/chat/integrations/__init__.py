"""Incoming webhooks of other products. Each product has a module that converts its payloads to
messages.
"""
