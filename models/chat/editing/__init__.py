"""Editing messages: their content, their channel and topic, and the history of edits."""
