"""What a drive knows of its stage: see tests/judges/sdk/chat_stage.py and payment_stage.py."""

import json
import os
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = json.loads(Path(os.environ["SPECD_SDK_STAGE"]).read_text(encoding="utf-8"))
