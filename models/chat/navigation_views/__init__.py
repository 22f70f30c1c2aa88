"""Views that users keep at hand in the sidebar of their clients."""
