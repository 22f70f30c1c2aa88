"""GET /streams/{stream_id}/email_address, and mail to such addresses."""

from __future__ import annotations

import io
import signal
from contextlib import suppress
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from adapters.file_store.wiring import build_file_store
from cli import chat_mail
from models.chat.incoming_mail import UnreadableMail, read_mail
from models.chat.organization.realms import find_notification_bot_id
from models.chat.tables import User
from specd.db import Database
from tests.support.chat.answers import DONE, bad
from tests.support.chat.app import ChatApp, ChatClient
from tests.support.chat.channels import make_channel
from tests.support.chat.people import KEYS, SECRET, Cast
from tests.support.chat.rows import change_user
from tests.support.cpu import cpu_at_most
from tests.support.pictures import PIXEL

TAKEN, NOTHING_TO_SEND, NO_SUCH_ADDRESS, TRY_LATER, NO_RIGHT = 0, 65, 67, 75, 77


@pytest.fixture
def harbour(chat_database: Database, cast: Cast) -> int:
    return chat_database.run(
        lambda s: make_channel(s, cast, "The Harbour!", subscribers=[cast.hamlet])
    )


def path(channel_id: int) -> str:
    return f"/streams/{channel_id}/email_address"


def address_of(client: ChatClient, channel_id: int, **query: Any) -> str:
    answer = client.get(path(channel_id), **query)
    assert answer == {**DONE, "email": answer["email"]}
    return str(answer["email"])


def letter(text: str = "A sail!\n", **headers: str) -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = headers.pop("From", "Horatio <horatio@wittenberg.example>")
    mail["Subject"] = headers.pop("Subject", "Re: AW: the horizon")
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(text)
    return mail


class Pickup:
    """The pipe of the mail server, which runs `specd chat receive-mail`."""

    def __init__(self, url: str, uploads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        monkeypatch.setenv("SPECD_CHAT_UPLOAD_DIR", str(uploads))
        monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", url)
        monkeypatch.setenv("SPECD_CHAT_SECRET", SECRET.decode())

    def __call__(self, address: str, mail: EmailMessage | bytes) -> int:
        raw = mail if isinstance(mail, bytes) else mail.as_bytes()
        stdin = io.TextIOWrapper(io.BytesIO(raw))
        with self._monkeypatch.context() as reading:
            reading.setattr(chat_mail.sys, "stdin", stdin)
            try:
                chat_mail.receive_mail.callback(address)  # type: ignore[misc]
            except SystemExit as ended:
                return int(ended.code or 0)
        return TAKEN


@pytest.fixture
def pickup(
    chat_filled: tuple[str, Cast], chat_app: ChatApp, monkeypatch: pytest.MonkeyPatch
) -> Pickup:
    return Pickup(chat_filled[0], chat_app.settings.chat_upload_dir, monkeypatch)


def newest(client: ChatClient) -> dict[str, Any]:
    query = {"anchor": "newest", "num_before": 1, "num_after": 0, "apply_markdown": False}
    messages: list[dict[str, Any]] = client.get("/messages", **query)["messages"]
    return messages[-1] if messages else {}


class TestGetChannelEmail:
    def test_address_names_the_channel_and_is_stable(
        self, chat: ChatClient, harbour: int, cast: Cast
    ) -> None:
        address = address_of(chat, harbour)
        local, _, domain = address.partition("@")
        slug, _, token = local.partition(".")
        assert (slug, domain, len(token)) == ("the-harbour", "mail.example", 40)
        assert address_of(chat, harbour) == address
        others = {
            address_of(chat, harbour, sender_id=cast.hamlet.id),
            address_of(chat, harbour, sender_id=cast.reminder.id),
            address_of(chat.acting_as(cast.othello), harbour),
        }
        assert len(others | {address}) == 4

    def test_rejects_invalid_requests(
        self, chat: ChatClient, as_nobody: ChatClient, as_hank: ChatClient, as_iago: ChatClient,
        harbour: int, cast: Cast, chat_database: Database,
    ) -> None:  # fmt: skip
        vault = chat_database.run(
            lambda s: make_channel(s, cast, "vault", subscribers=[cast.othello], invite_only=True)
        )
        hidden = bad("Invalid channel ID")
        for client, channel_id in ((chat, vault), (as_hank, harbour), (chat, 2147483647)):
            assert client.get(path(channel_id)) == hidden
        assert as_iago.get(path(vault)) == bad("Not authorized to send to channel 'vault'")
        for sender in (cast.othello.id, cast.hank.id, 2147483647):
            assert chat.get(path(harbour), sender_id=sender) == bad("Invalid sender ID")
        assert as_nobody.request("GET", path(harbour)).status_code == 401

    def test_rejects_if_mail_is_not_configured(
        self, chat: ChatClient, harbour: int, chat_app: ChatApp
    ) -> None:
        domain = chat_app.settings.chat_mail_domain
        object.__setattr__(chat_app.settings, "chat_mail_domain", "")
        try:
            assert chat.get(path(harbour)) == bad("This server does not receive mail.")
        finally:
            object.__setattr__(chat_app.settings, "chat_mail_domain", domain)


class TestMail:
    def test_bot_quotes_the_mail(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast
    ) -> None:
        assert pickup(address_of(chat, harbour), letter()) == TAKEN
        message = newest(chat)
        assert message["sender_id"] == cast.notification_bot_id
        assert (message["subject"], message["client"]) == ("the horizon", "Email")
        assert message["content"] == (
            "Mail from ` Horatio <horatio@wittenberg.example> `:\n\n````quote\nA sail!\n````"
        )

    def test_sender_is_the_caller_or_the_callers_bot(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast
    ) -> None:
        for who in (cast.hamlet, cast.reminder):
            address = address_of(chat, harbour, sender_id=who.id)
            assert pickup(address.upper(), letter("A *sail*\r\n\r\nto starboard")) == TAKEN
            message = newest(chat)
            assert (message["sender_id"], message["content"]) == (
                who.id, "A *sail*\n\nto starboard",
            )  # fmt: skip

    def test_accepts_other_forms_of_mail(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast
    ) -> None:
        address = address_of(chat, harbour, sender_id=cast.hamlet.id)
        html = EmailMessage()
        html["Subject"] = "=?utf-8?q?Gr=C3=BC=C3=9Fe?="
        html.set_content(
            "<style>p {}</style><p>A &lt;sail&gt;</p><script>alert(1)</script>", subtype="html"
        )
        assert pickup(address, html) == TAKEN
        assert (newest(chat)["subject"], newest(chat)["content"]) == ("Grüße", "A <sail>")
        odd = b"From: x\nContent-Type: text/plain; charset=nonsense\n\nA s\xffil\x00"
        assert pickup(address, odd) == TAKEN
        assert (newest(chat)["subject"], newest(chat)["content"]) == (
            "Email with no subject", "A s\ufffdil",
        )  # fmt: skip
        assert pickup(address, letter("x" * 20_000)) == TAKEN
        assert newest(chat)["content"] == "x" * 9_500 + "\n[…]"

    def test_rejects_invalid_mail(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast, chat_database: Database
    ) -> None:
        mail_address = address_of(chat, harbour, sender_id=cast.hamlet.id)
        assert pickup(mail_address, b"") == NOTHING_TO_SEND
        assert pickup(mail_address, letter(" \n")) == NOTHING_TO_SEND
        assert pickup(mail_address, letter(Auto_Submitted="auto-replied (vacation)")) == TAKEN
        turned = mail_address.replace(".", ".a", 1)
        broken = (
            mail_address[:-16] + ("a" if mail_address[-16] != "a" else "b") + mail_address[-15:]
        )
        for wrong in (turned, broken, "harbour@mail.example", "", "x." + "é" * 40):
            assert pickup(wrong, letter()) == NO_SUCH_ADDRESS
        chat.acting_as(cast.cordelia).delete(f"/streams/{harbour}")
        assert pickup(mail_address, letter()) == NO_RIGHT
        chat.acting_as(cast.cordelia).patch(f"/streams/{harbour}", is_archived=False)

        def renew(session: Any) -> None:
            KEYS.renew(session.get(User, cast.hamlet.id))

        change_user(chat_database, cast.hamlet.id, is_active=False)
        assert pickup(mail_address, letter()) == NO_SUCH_ADDRESS
        change_user(chat_database, cast.hamlet.id, is_active=True)
        assert pickup(mail_address, letter("Still here")) == TAKEN
        chat_database.run(renew)
        assert pickup(mail_address, letter()) == NO_SUCH_ADDRESS

    def test_owner_of_the_address_must_be_able_to_send(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast, chat_database: Database
    ) -> None:
        address = address_of(chat, harbour)
        with chat_database.reading() as reader:
            assert find_notification_bot_id(reader, cast.realm_id) == cast.notification_bot_id
        groups = chat.get("/user_groups", include_deactivated_groups=False)["user_groups"]
        [owners] = [group["id"] for group in groups if group["name"] == "role:owners"]
        chat.acting_as(cast.cordelia).patch(
            f"/streams/{harbour}", can_send_message_group={"new": owners}
        )
        assert pickup(address, letter()) == NO_RIGHT


class TestAttachments:
    """Attachments become files of the sender, which the message links to."""

    def test_files_are_stored_and_shown(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast, chat_app: ChatApp
    ) -> None:
        mail = letter("See the plan.")
        mail.add_attachment(b"words", maintype="application", subtype="pdf", filename="Plan ä.pdf")
        mail.add_attachment(PIXEL, maintype="image", subtype="gif", filename="../a.gif")
        mail.add_attachment("forwarded", subtype="plain", filename="note.txt")
        mail.add_attachment(letter("An earlier mail."))
        mail.add_attachment(b"signed", maintype="application", subtype="pkcs7-signature")
        assert pickup(address_of(chat, harbour, sender_id=cast.hamlet.id), mail) == TAKEN
        message = newest(chat)
        files = chat.get("/attachments")["attachments"]
        assert [file["name"] for file in files] == ["Plan ä.pdf", "a.gif", "note.txt", "mail.eml"]
        assert message["content"] == "See the plan.\n\n" + "\n".join(
            f"[{file['name']}](/user_uploads/{file['path_id']})" for file in files
        )
        assert all(file["messages"][0]["id"] == message["id"] for file in files)
        store = build_file_store(chat_app.settings)
        assert b"".join(store.read(key_of_file(files[0]))) == b"words"
        assert b"An earlier mail." in b"".join(store.read(key_of_file(files[3])))
        assert list((chat_app.settings.chat_upload_dir / "arriving").iterdir()) == []

    def test_files_of_the_bot_are_readable_in_the_channel(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast
    ) -> None:
        mail = letter("See the plan.")
        mail.add_attachment(b"words", maintype="application", subtype="pdf", filename="plan.pdf")
        assert pickup(address_of(chat, harbour), mail) == TAKEN
        content = newest(chat)["content"]
        assert content.partition("````\n\n")[2].startswith("[plan.pdf](/user_uploads/")
        path = content.rpartition("/user_uploads/")[2].rstrip(")")
        assert chat.get(f"/user_uploads/{path}")["result"] == "success"

    def test_attachment_alone_is_a_message(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast
    ) -> None:
        mail = EmailMessage()
        mail.add_attachment(b"words", maintype="application", subtype="pdf")
        assert pickup(address_of(chat, harbour, sender_id=cast.hamlet.id), mail) == TAKEN
        assert newest(chat)["content"].startswith("[file.pdf](/user_uploads/")

    def test_omitted_files_are_named(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setenv("SPECD_CHAT_MAX_FILE_UPLOAD_SIZE_MIB", "1")
        mail = letter("x" * 20_000)
        large = bytes((1 << 20) + 1)
        mail.add_attachment(large, maintype="application", subtype="zip", filename="large.zip")
        for number in range(21):
            mail.add_attachment(b"a", maintype="a", subtype="b", filename=f"{number}.bin")
        assert pickup(address_of(chat, harbour, sender_id=cast.hamlet.id), mail) == TAKEN
        content = newest(chat)["content"]
        assert len(content) <= 10_000
        assert content.endswith("Omitted, too large or too many: large.zip, 20.bin `")
        assert len(chat.get("/attachments")["attachments"]) == 20

    def test_files_beyond_the_quota_are_omitted(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setenv("SPECD_CHAT_ATTACHMENTS_PER_USER", "1")
        mail = letter("See the plan.")
        for name in ("plan.pdf", "map.pdf"):
            mail.add_attachment(b"words", maintype="application", subtype="pdf", filename=name)
        assert pickup(address_of(chat, harbour, sender_id=cast.hamlet.id), mail) == TAKEN
        content = newest(chat)["content"]
        assert content.startswith("See the plan.")
        assert "Too many uploaded files (limit: 1)" in content
        assert chat.get("/attachments")["attachments"] == []

    def test_unavailable_store_is_retried(
        self, chat: ChatClient, harbour: int, pickup: Pickup, cast: Cast,
        monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    ) -> None:  # fmt: skip
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("SPECD_CHAT_UPLOAD_DIR", str(tmp_path / "file" / "uploads"))
        mail = letter("See the plan.")
        mail.add_attachment(b"words", maintype="application", subtype="pdf", filename="plan.pdf")
        assert pickup(address_of(chat, harbour), mail) == TRY_LATER
        assert newest(chat) == {}


def key_of_file(file: dict[str, Any]) -> str:
    realm, _, name = file["path_id"].partition("/")
    return f"{realm}/{name[:32]}"


@pytest.mark.parametrize(
    "piece",
    ["<script ", "<br", "<", "<b><p>", "<a href=x><p>", "<!--", "<title", "<table><tr><td>"],
)
def test_hostile_html_is_read_quickly(piece: str) -> None:
    head = b"From: a@b.example\r\nContent-Type: text/html\r\n\r\n<p>words</p>"
    with cpu_at_most(2):
        mail = read_mail(head + (piece * 200_000)[:1_000_000].encode())
    assert mail.text.startswith("words")


@pytest.mark.parametrize("sender", ["a," * 20_000, "(" * 20_000, "<" * 20_000, '"' * 20_000])
def test_hostile_headers_are_read_quickly(sender: str) -> None:
    with cpu_at_most(2):
        mail = read_mail(f"From: {sender}\r\nSubject: {sender}\r\n\r\nwords".encode())
    assert mail.text == "words"


def test_mail_to_an_unknown_address_is_not_read(
    pickup: Pickup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_mail, "read_mail", lambda _raw: pytest.fail("was read"))
    assert pickup("nobody@chat.example", b"From: a@b.example\r\n\r\nwords") == NO_SUCH_ADDRESS


MULTIPART = b"From: a@b.example\nContent-Type: multipart/mixed; boundary=q\n\n"
DEEP = b"".join(
    b"--q%d\nContent-Type: multipart/mixed; boundary=q%d\n\n" % (n, n + 1) for n in range(200)
)


@pytest.mark.parametrize(
    ("head", "piece", "count", "tail"),
    [
        (MULTIPART, b"--q\n\n", 200_000, b""),
        (MULTIPART, b"--q\nContent-Type: text/html\n\na\n", 200_000, b""),
        (MULTIPART.replace(b"=q", b"=q0") + DEEP, b"a\n", 500_000, b""),
        (b"From: a@b.example\nContent-Type: text/plain", b"; a=b", 200_000, b"\n\nwords"),
        (b"", b"a: b\n", 4_000_000, b""),
        (b"From: a@b.example\n\n", b"\n", 20_000_000, b""),
    ],
    ids=["parts", "whole parts", "nested", "parameters", "headers", "lines"],
)
# The first signal may arrive where Python ignores exceptions. The next follows after 10 ms.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_hostile_structure_takes_limited_time(
    head: bytes, piece: bytes, count: int, tail: bytes
) -> None:
    raw = head + piece * count + tail  # not a parameter, which exists until the end of the suite
    with cpu_at_most(3 * chat_mail.CPU_S), suppress(UnreadableMail):
        chat_mail.read_at_once(raw)


@pytest.mark.parametrize(
    "part",
    [
        "Content-Type: message/rfc822\n\n",
        "Content-Type: multipart/mixed; boundary=q{n}\n\n--q{n}\n",
    ],
)
def test_mail_with_a_thousand_nested_parts_is_read_or_unreadable(part: str) -> None:
    nested = "".join(part.format(n=n) for n in range(1500))
    with suppress(UnreadableMail):  # unless Python's recursion limit has been raised
        assert read_mail(f"{nested}\n\nwords".encode()).text == "words"


def test_mail_with_large_attachments_is_read() -> None:
    attachment = (
        b"--q\nContent-Type: a/b\nContent-Transfer-Encoding: base64\n\n" + b"YWJj\n" * 4_000_000
    )
    raw = MULTIPART + b"--q\nContent-Type: text/plain\n\nwords\n" + attachment + b"--q--\n"
    assert chat_mail.read_at_once(raw).text == "words"


def test_reading_has_a_limit_of_processor_time() -> None:
    def busy() -> None:
        with chat_mail._limited_cpu(0.01):
            while True:
                pass

    before = signal.getsignal(signal.SIGVTALRM)
    with pytest.raises(UnreadableMail):
        busy()
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (
            '<p>Open <a href="https://e.example/r?t=1&amp;u=a_b">this link</a></p>',
            "Open [this link](https://e.example/r?t=1&u=a_b)",
        ),
        ('<a href="https://e.example/a">https://e.example/a</a>', "https://e.example/a"),
        ('<a href="mailto:me@e.example">me@e.example</a>', "me@e.example"),
        ('<a href="javascript:alert(1)">x</a>', "x"),
        ('a <a href="https://e.example/t"><img src="t.png"></a>b', "a b"),
        ('<a href="https://e.example">*x*</a>', "[&#42;x&#42;](https://e.example)"),
    ],
)
def test_link_in_html_keeps_its_address(markup: str, text: str) -> None:
    head = b"From: a@b.example\r\nContent-Type: text/html\r\n\r\n"
    assert read_mail(head + markup.encode()).text == text


def test_html_is_read_if_the_plain_text_is_blank() -> None:
    raw = (
        b"From: a@b.example\r\nContent-Type: multipart/alternative; boundary=q\r\n\r\n"
        b"--q\r\nContent-Type: text/plain\r\n\r\n  \r\n"
        b"--q\r\nContent-Type: text/html\r\n\r\n<p>words</p>\r\n--q--\r\n"
    )
    assert read_mail(raw).text == "words"
