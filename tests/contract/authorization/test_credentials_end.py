"""Every credential ends: with time, with use, with its key or permissions, with its user, with its
organization.

Each kind is combined with each event that may end it, on both databases. Exceptions need a reason.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from demo.local_server import LocalServer
from specd.db import Database
from tests.contract.authorization import credentials as of
from tests.contract.authorization import payment_credentials as payment
from tests.contract.authorization.credentials import GOOD, Scene, Use
from tests.contract.authorization.payment_credentials import Shop
from tests.support.chat.app import ChatApp
from tests.support.chat.calls import SECRET, TOKEN, Stage, Vendor
from tests.support.chat.people import Cast
from tests.support.contract import ContractClient
from tests.support.frozen_clock import FrozenClock
from tests.support.payment.factories import LIFETIME, Merchant

Happening = Callable[[Scene, str], None]


class GoesOn(str):
    """The reason why a credential stays valid."""

    __slots__ = ()


@dataclass(frozen=True)
class Kind:
    """A kind of credential.

    `make` creates a credential for `holder`, valid for `lifetime_s`. `ends` maps an event to the
    error of later uses. `more` contains events only for this kind.
    """

    make: Callable[[Scene, str], Use]
    ends: dict[str, str]
    holder: str = "hamlet"
    lifetime_s: int | None = None
    more: dict[str, Happening] = field(default_factory=dict)


HAPPENINGS: dict[str, Happening] = {
    "another key": of.renew,
    "all keys revoked": of.revoke_all,
    "another password": of.change_password,
    "left": of.leave,
    "left and came back": of.leave_and_come_back,
    "demoted": of.demote,
    "organization closed": of.close,
    "organization stopped": of.stop,
}
"""Events that can end a credential, in addition to time and use."""

ALWAYS = GoesOn("clients keep their key for years (docs/security.md, kept on purpose)")
MANY = GoesOn("intended for repeated use")
RIGHTS = GoesOn("permissions are checked at each request: test_policy.py, test_overtaken.py")
OWN = GoesOn("independent of the API key")
CLIENTS = GoesOn("existing clients keep working (decision 32)")
NOT_OURS = GoesOn("used only by this server, after checking the holder's key")

GONE = "400 Invalid video call session identifier"
INVALID, LEFT = "401 Invalid API key", "401 Account is deactivated"
CLOSED = "401 This organization has been deactivated"
STOPPED = "503 This organization is moving to another server; try again in a moment"
LEFT_KEY = {
    "left": LEFT, "left and came back": INVALID, "organization closed": CLOSED,
    "organization stopped": STOPPED,
}  # fmt: skip
KEY_ENDS = {
    "time": ALWAYS, "use": MANY, "another key": INVALID, "all keys revoked": INVALID,
    "another password": CLIENTS, "demoted": RIGHTS, **LEFT_KEY,
}  # fmt: skip
SIGN_IN_ENDS = {
    "use": MANY, "another key": OWN, "all keys revoked": OWN, "left": LEFT,
    "left and came back": GoesOn("the account is active again"), "demoted": RIGHTS,
    "organization closed": CLOSED, "organization stopped": STOPPED,
}  # fmt: skip
LINK_ENDS = {
    "time": GONE, "use": GONE, "another key": GONE, "all keys revoked": GONE, "left": GONE,
    "another password": GoesOn("its key stays valid too"), "left and came back": GONE,
    "demoted": GoesOn("all users may make calls"), "organization closed": GONE,
    "organization stopped": STOPPED,
}  # fmt: skip
KEPT_ENDS = {
    "time": NOT_OURS, "use": MANY, "another key": "gone", "all keys revoked": "gone",
    "another password": CLIENTS, "left": "gone", "left and came back": "gone", "demoted": RIGHTS,
    "organization closed": NOT_OURS, "organization stopped": NOT_OURS,
}  # fmt: skip
NO_MAIL = "404 The confirmation link is unknown, was used already or has expired."
NO_INVITATION = "404 The invitation is unknown, was used already or has expired."
INVITATION_ENDS = {
    "time": NO_INVITATION, "another key": NO_INVITATION, "all keys revoked": NO_INVITATION,
    "another password": GoesOn("its key stays valid too"), "left": NO_INVITATION,
    "left and came back": NO_INVITATION, "demoted": NO_INVITATION,
    "organization closed": NO_INVITATION, "organization stopped": STOPPED,
    "revoked": NO_INVITATION,
}  # fmt: skip
BAD_TOKEN = "400 Bad JSON web token"
NO_TOKENS = "400 JWT authentication is not enabled for this organization"
WRONG_PASSWORD = "401 Your username or password is incorrect"

KINDS = {
    "API key": Kind(of.api_key, KEY_ENDS),
    "API key of a bot": Kind(of.api_key, KEY_ENDS, holder="reminder"),
    "password": Kind(
        of.password,
        {
            **SIGN_IN_ENDS,
            "time": GoesOn("passwords do not expire"),
            "another password": WRONG_PASSWORD,
        },
    ),
    "signed token": Kind(
        of.signed_token,
        {
            **SIGN_IN_ENDS,
            "time": BAD_TOKEN,
            "another password": OWN,
            "organization signs otherwise": BAD_TOKEN,
            "organization signs no more": NO_TOKENS,
            "another audience": BAD_TOKEN,
        },
        lifetime_s=86_400,
        more={
            "organization signs otherwise": lambda scene, _: scene.configure_jwt(
                jwt_key=of.JWT_SECRET[::-1]
            ),
            "organization signs no more": lambda scene, _: scene.configure_jwt(jwt_key=""),
            "another audience": lambda scene, _: scene.configure_jwt(jwt_audience="wiki"),
        },
    ),
    "session cookie": Kind(
        of.session_cookie,
        {
            **dict.fromkeys(
                ("time", "another key", "all keys revoked", "another password"), "gone"
            ),
            "use": MANY,
            "left": "gone",
            "left and came back": "gone",
            "demoted": RIGHTS,
            "organization closed": CLOSED,
            "organization stopped": STOPPED,
            "ended": "gone",
            "ten later ones": "gone",
        },
        lifetime_s=30 * 86_400,
        more={
            "ended": lambda scene, holder: _delete(scene, holder, "/users/me/sessions/1"),
            "ten later ones": lambda scene, holder: _use_up(scene, holder),
        },
    ),
    "email link": Kind(
        of.email_link,
        {
            "time": NO_MAIL,
            "use": NO_MAIL,
            "another key": NO_MAIL,
            "all keys revoked": NO_MAIL,
            "another password": NO_MAIL,
            "left": NO_MAIL,
            "left and came back": NO_MAIL,
            "demoted": GoesOn("all users may change their address"),
            "organization closed": NO_MAIL,
            "organization stopped": STOPPED,
            "another link": NO_MAIL,
        },
        lifetime_s=86_400,
        more={"another link": lambda scene, holder: _use_nothing(of.email_link(scene, holder))},
    ),
    "invitation": Kind(
        of.invitation,
        {**INVITATION_ENDS, "use": NO_INVITATION},
        lifetime_s=864_000,
        more={"revoked": lambda scene, holder: _delete(scene, holder, "/invites/1")},
    ),
    "invitation link": Kind(
        of.invitation_link,
        {**INVITATION_ENDS, "use": MANY},
        holder="iago",
        lifetime_s=864_000,
        more={"revoked": lambda scene, holder: _delete(scene, holder, "/invites/multiuse/1")},
    ),
    "export link": Kind(
        of.export_link,
        {
            **dict.fromkeys(("time", "use", *HAPPENINGS, "export deleted"), "404"),
            "another password": LINK_ENDS["another password"],
            "organization stopped": "503",
        },
        holder="iago",
        lifetime_s=600,
        more={"export deleted": lambda scene, _: _delete_export(scene)},
    ),
    "upload link": Kind(
        of.upload_link,
        {
            **dict.fromkeys(("time", *HAPPENINGS, "file deleted"), "404"),
            "use": GoesOn("browsers request parts of a file until it expires"),
            "another password": LINK_ENDS["another password"],
            "demoted": GoesOn("it is the owner's file"),
            "organization stopped": "503",
        },
        lifetime_s=600,
        more={"file deleted": lambda scene, holder: _delete(scene, holder, "/attachments/1")},
    ),
    "vendor link": Kind(
        of.vendor_link,
        LINK_ENDS,
        lifetime_s=600,
    ),
    "vendor state": Kind(of.vendor_state, LINK_ENDS, lifetime_s=600),
    "vendor authorization": Kind(
        of.vendor_authorization,
        {**KEPT_ENDS, "withdrawn": "gone"},
        more={"withdrawn": lambda scene, holder: _delete(scene, holder, TOKEN)},
    ),
    "device": Kind(of.device, KEPT_ENDS),
    "Idempotency-Key": Kind(
        of.idempotency_key,
        {**KEY_ENDS, "time": GoesOn("until the retention: tests/workers/test_retention.py")},
    ),
    "vendor's notice token": Kind(
        of.notice_token,
        {
            **dict.fromkeys(("use", *HAPPENINGS), GoesOn("it belongs to the vendor")),
            "time": GoesOn("until the operator changes it"),
            "organization stopped": STOPPED,
            "another setting": "401 This notice is not the vendor's",
        },
        more={"another setting": lambda scene, _: of.set_notice_token(scene, "another")},
    ),
}


def _use_nothing(use: Use) -> None:
    """Only create the credential."""


def _use_up(scene: Scene, holder: str) -> None:
    """Create ten more sessions."""
    for _ in range(10):
        _use_nothing(of.session_cookie(scene, holder))


def _delete(scene: Scene, holder: str, path: str) -> None:
    assert scene.by(holder).delete(path)["result"] == "success"


def _delete_export(scene: Scene) -> None:
    _delete(scene, "cordelia", "/export/realm/1")


@pytest.fixture(scope="module")
def vendor() -> Iterator[Stage]:
    local = Vendor(client_id="acme", client_secret=SECRET)
    server = LocalServer(local)
    server.start()
    yield Stage(local, server, None)  # type: ignore[arg-type]
    server.close()


@pytest.fixture
def scene(
    chat_app: ChatApp, chat_database: Database, cast: Cast, clock: FrozenClock, vendor: Stage,
    tmp_path: Path,
) -> Iterator[Scene]:  # fmt: skip
    with of.vendor_of(chat_app, vendor) as stage:
        yield Scene(chat_app, chat_database, cast, clock, stage, tmp_path / "exports")


CELLS = [(name, end) for name, kind in KINDS.items() for end in kind.ends]


@pytest.mark.parametrize(("name", "end"), CELLS)
def test_credential_ends(scene: Scene, name: str, end: str) -> None:
    kind = KINDS[name]
    use = kind.make(scene, kind.holder)
    match end:
        case "time":
            scene.clock.advance(seconds=kind.lifetime_s or 400 * 86_400)
        case "use":
            assert use() == GOOD
        case _:
            (HAPPENINGS | kind.more)[end](scene, kind.holder)
    expected = kind.ends[end]
    assert use() == (GOOD if isinstance(expected, GoesOn) else expected)


@pytest.mark.parametrize("name", KINDS)
def test_temporary_credential_is_valid_until_its_end(scene: Scene, name: str) -> None:
    """A credential that expires works until its last second, so the rejections above are caused by
    the end.
    """
    kind = KINDS[name]
    use = kind.make(scene, kind.holder)
    if kind.lifetime_s is not None:
        scene.clock.advance(seconds=kind.lifetime_s - 1)
    assert use() == GOOD


def test_every_kind_is_combined_with_every_event() -> None:
    for name, kind in KINDS.items():
        assert kind.ends.keys() == {"time", "use"} | HAPPENINGS.keys() | kind.more.keys(), name
        assert (kind.lifetime_s is None) == isinstance(kind.ends["time"], GoesOn), name


# --- payment -----------------------------------------------------------------------------------

SHOPPERS = GoesOn("the shopper must see the payment arrive")
BOOKS = GoesOn("responses are replayed")
REFUSED = "401 unauthorized"
SHOP_KINDS: dict[str, tuple[Callable[[Shop], Use], dict[str, str]]] = {
    "API key": (
        payment.payment_key,
        {
            "time": GoesOn("merchants rotate keys"), "use": MANY, "key revoked": REFUSED,
            "another key": GoesOn("two keys for a rotation"), "invoice canceled": MANY,
        },
    ),
    "checkout token": (
        payment.checkout_token,
        {
            "time": "410 closed", "use": MANY, "key revoked": SHOPPERS, "another key": SHOPPERS,
            "invoice canceled": "200 canceled",
        },
    ),
    "Idempotency-Key": (
        payment.idempotency_key,
        {
            "time": GoesOn("until the retention: tests/workers/test_retention.py"), "use": MANY,
            "key revoked": REFUSED, "another key": BOOKS, "invoice canceled": BOOKS,
        },
    ),
}  # fmt: skip
SHOP_CELLS = [(name, end) for name, (_, ends) in SHOP_KINDS.items() for end in ends]


@pytest.mark.parametrize(("name", "end"), SHOP_CELLS)
def test_credential_of_a_shop_ends(
    api: ContractClient, ada: Merchant, database: Database, clock: FrozenClock, name: str, end: str
) -> None:
    shop = Shop(api, ada, database, clock)
    make, ends = SHOP_KINDS[name]
    use = make(shop)
    if end == "time":
        clock.advance(seconds=LIFETIME.total_seconds() - 1)
        assert use() == GOOD
        clock.advance(seconds=1)
    elif end == "use":
        assert use() == GOOD
    else:
        payment.HAPPENINGS[end](shop)
    assert use() == (GOOD if isinstance(ends[end], GoesOn) else ends[end])


def test_every_kind_of_a_shop_is_combined_with_every_event() -> None:
    for name, (_, ends) in SHOP_KINDS.items():
        assert ends.keys() == {"time", "use"} | payment.HAPPENINGS.keys(), name
