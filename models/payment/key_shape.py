"""What an API key looks like, where the keys themselves must not be: in the log."""

import re

SECRET = re.compile(r"prk_test_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
