"""The video call vendor: creates meetings for users who have authorized this server (OAuth 2)."""
