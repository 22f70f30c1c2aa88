"""Text that users read of mail that programs send to a channel."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from models.chat.incoming_mail import AutomaticMail, read_files, read_mail

CORPUS: dict[str, Any] = yaml.safe_load(
    (Path(__file__).parent / "payloads" / "mails.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", CORPUS)
def test_mail_text_is_extracted(name: str) -> None:
    case = CORPUS[name]
    raw = case["raw"].encode()
    if case.get("is_automatic"):
        with pytest.raises(AutomaticMail):
            read_mail(raw)
        return
    mail = read_mail(raw, needs_text=not case["files"])
    assert (mail.topic, mail.text) == (case["topic"], case["text"])
    assert [file.name for file in read_files(raw)] == case["files"]
