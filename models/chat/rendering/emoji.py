"""Emoji by name: all Unicode emoji, in emoji.txt. Other names remain text.

Codes are hexadecimal code points separated by dashes, like `emoji_code` in the API. A line of
emoji.txt has a code, `*` if it has skin tones, and its names, with the preferred name first.
"""

from hashlib import sha256
from pathlib import Path

import orjson

LONGEST = 60
"""Maximum length of a name in characters."""
_TONES = {
    "light": "1f3fb",
    "medium_light": "1f3fc",
    "medium": "1f3fd",
    "medium_dark": "1f3fe",
    "dark": "1f3ff",
}
_LINES = [
    (code.removesuffix("*"), code.endswith("*"), names)
    for code, *names in map(str.split, Path(__file__).with_suffix(".txt").open(encoding="ascii"))
]


def _toned(code: str, tone: str) -> str:
    """Return the code with a skin tone, which follows the first code point."""
    person, *rest = code.split("-")
    return "-".join([person, tone, *(point for point in rest if point != "fe0f")])


EMOJI: dict[str, str] = {name: code for code, _, names in _LINES for name in names}
"""Name -> code."""
EMOJI |= {
    toned: _toned(code, point)
    for code, has_tones, names in _LINES
    if has_tones
    for name in names
    for tone, point in _TONES.items()
    if len(toned := f"{name}_{tone}_skin_tone") <= LONGEST
}
NAME_OF_CODE = {code.replace("-fe0f", ""): names[0] for code, _, names in reversed(_LINES) if names}
"""Code without variation selectors -> preferred name. Skin tones are not included."""
DATA = orjson.dumps({"code_to_names": {code: names for code, _, names in _LINES}})
"""The emoji that clients offer, as JSON: code -> names, with the preferred name first. Emoji with
skin tones, which are five times as many, are available only by name.
"""
DATA_PATH = f"/static/emoji-{sha256(DATA).hexdigest()[:12]}.json"
"""The path in pages/emoji.py. A changed table has a new path, because clients cache it."""
