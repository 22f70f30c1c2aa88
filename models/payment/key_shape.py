"""The pattern of API keys, for masking them in logs. A separate module avoids heavy imports."""

import re

SECRET = re.compile(r"prk_test_[0-9a-f]{8}_[A-Za-z0-9_-]{43}")
