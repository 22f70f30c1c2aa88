"""Configuration for a plain `gunicorn` in this directory. It then serves like `specd serve`."""

from specd._cli import gunicorn_conf

globals().update({k: v for k, v in vars(gunicorn_conf).items() if not k.startswith("_")})
