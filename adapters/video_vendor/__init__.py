"""The vendor of video calls: acts for users who have authorized this server there (OAuth 2)."""
