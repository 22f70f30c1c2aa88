"""Passwords and signed tokens. argon2-cffi and PyJWT are imported when they are first used."""
