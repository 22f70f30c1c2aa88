"""Delete messages: one message, all messages of a sender or a topic, and messages that are
too old.
"""
