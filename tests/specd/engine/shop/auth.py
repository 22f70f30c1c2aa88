"""Security functions, in connexion's calling convention."""

from specd import Context


def bearer(token: str, *, request: Context) -> str | None:
    return "ada" if token == "good-token" else None


def basic(user: str, password: str) -> str | None:
    return user if password == "good-password" else None


def key(value: str) -> str | None:
    return "keyholder" if value == "good-key" else None
