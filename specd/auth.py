"""Hashes of passwords, and JSON Web Tokens. The extra `auth` installs what they need."""

from specd._auth.bearer import Bearer
from specd._auth.passwords import Passwords
from specd._auth.tokens import Tokens

__all__ = ["Bearer", "Passwords", "Tokens"]
