"""Which release and feature level of the reference the API follows."""

VERSION = "12.0"
FEATURE_LEVEL = 478
