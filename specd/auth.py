"""Password hashes and JSON Web Tokens. They require the extra `auth`."""

from specd._auth.bearer import Bearer
from specd._auth.passwords import Passwords
from specd._auth.tokens import Tokens

__all__ = ["Bearer", "Passwords", "Tokens"]
