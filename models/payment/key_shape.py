"""The pattern of API keys, which the log masks. It stands apart from what keys need to import."""

import re

SECRET = re.compile(r"prk_test_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
