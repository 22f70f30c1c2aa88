"""Found by a plain `gunicorn` in this directory, which then serves as `specd serve` does."""

from specd._cli import gunicorn_conf

globals().update({k: v for k, v in vars(gunicorn_conf).items() if not k.startswith("_")})
