"""Settings of users and defaults for new users. Zulip's export uses the same names."""

from collections.abc import Iterable, Mapping

from models.chat.errors import ChatError
from models.chat.settings.user_settings import check_settings
from models.chat.tables.setting_table import EMOJISETS, SETTINGS
from models.chat.zulip_form.fitting import Changes
from models.chat.zulip_form.rows import ZulipRow
from models.json import Json

AUTO_READ_POLICY = "resolved_topic_notice_auto_read_policy"
AUTO_READ: Mapping[int, str] = {1: "always", 2: "except_followed", 3: "never"}
"""Our values of the policy, by Zulip's numbers."""


def taken_settings(row: ZulipRow, names: Iterable[str], changes: Changes) -> dict[str, Json]:
    """Return these settings of one of Zulip's rows. Missing settings and unknown values become the
    defaults.
    """
    return {name: _taken(row, name, changes) for name in names}


def given_settings(settings: Mapping[str, Json]) -> dict[str, Json]:
    """Return settings as Zulip exports them."""
    numbers = {policy: number for number, policy in AUTO_READ.items()}
    emojiset, policy = settings["emojiset"], settings[AUTO_READ_POLICY]
    return {
        **settings,
        "emojiset": EMOJISETS.get(emojiset, emojiset),
        AUTO_READ_POLICY: numbers[policy],
    }


def _taken(row: ZulipRow, name: str, changes: Changes) -> Json:
    default = SETTINGS[name].default
    value = row.get(name)
    if value is None:
        return default
    if name == AUTO_READ_POLICY and type(value) is int:
        value = AUTO_READ.get(value)
    if type(value) is type(default):
        try:
            return check_settings({name: value})[name]
        except ChatError:
            pass
    changes.note(row.table, f"{name} has a value that is not known here")
    return default
