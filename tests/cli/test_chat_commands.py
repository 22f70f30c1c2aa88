"""`specd chat ...`: organizations, users and settings from the command line."""

import tarfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from models.chat.accounts import key_renewal
from models.chat.channels.creation import NewChannel
from models.chat.channels.subscribing import WantedChannel, subscribe
from models.chat.common.vault import Vault
from models.chat.identity.actors import Actor, authenticate, find_actor
from models.chat.identity.errors import InvalidApiKey
from models.chat.identity.passwords import is_password
from models.chat.tables import AuditLog, JwtConfiguration, Realm, Subscription, User
from models.secret_files import load_secret
from specd.db import Database
from tests.cli.runner import Specd
from tests.support.archives import verify_archive
from tests.support.chat.django_hashes import DJANGO_HASHES
from tests.support.chat.zulip_acme import ADA, EMAILS, make_acme
from tests.support.chat.zulip_acme import HOST as ZULIP_HOST
from tests.support.databases import place_migrated
from wsgi import project

ACME = (
    "chat", "create-realm", "--name", "Acme", "--host", "acme.example",
    "--owner-email", "cordelia@acme.example", "--owner-name", "Cordelia",
)  # fmt: skip


@pytest.fixture
def migrated(specd: Specd, tmp_path: Path) -> Specd:
    for service in project.names:
        place_migrated(tmp_path / "var" / f"{service}.db", service)
    return specd


@pytest.fixture
def chat_database(migrated: Specd, tmp_path: Path) -> Any:
    database = Database(f"sqlite:///{tmp_path / 'var' / 'chat.db'}")
    yield database
    database.dispose()


@pytest.fixture
def acme(migrated: Specd) -> dict[str, Any]:
    return migrated.json(*ACME)


def sign_in(database: Database, made: dict[str, Any], host: str = "acme.example") -> Actor:
    with database.reading() as reader:
        return authenticate(reader, host=host, email=made["email"], api_key=made["api_key"])


def realm_column(database: Database, name: str) -> Any:
    with database.reading() as reader:
        return reader.execute(select(getattr(Realm, name))).scalar_one()


class TestCreateRealm:
    def test_prints_the_sign_in_of_the_owner(
        self, migrated: Specd, chat_database: Database
    ) -> None:
        made = migrated.json(*ACME)
        assert set(made) == {"realm_id", "user_id", "email", "api_key"}
        assert (made["realm_id"], made["user_id"]) == (1, 1)
        owner = sign_in(chat_database, made)
        assert (owner.role, owner.full_name, owner.realm.name) == (100, "Cordelia", "Acme")

    def test_prints_readable_text_without_json(self, migrated: Specd) -> None:
        status, out, err = migrated(*ACME)
        assert (status, err) == (0, "")
        assert out.startswith("Organization 1 created at acme.example.\nIts owner is user 1, ")

    def test_sets_a_password_of_the_owner(
        self, migrated: Specd, chat_database: Database, tmp_path: Path
    ) -> None:
        secret = tmp_path / "password"
        secret.write_text("four score and seven\n")
        migrated.json(*ACME, "--owner-password-file", str(secret))
        with chat_database.reading() as reader:
            kept = reader.execute(select(User.password_hash).where(User.id == 1)).scalar_one()
        assert is_password("four score and seven", kept)
        assert "four score" not in str(kept)

    def test_rejects_a_host_in_use(self, migrated: Specd, acme: dict[str, Any]) -> None:
        again = migrated.refusal(*ACME)
        assert again == ("An organization already lives at acme.example; choose another host.")

    @pytest.mark.parametrize("host", ["", "http://acme.example", "acme.example:80", "a b", "a/b"])
    def test_rejects_an_invalid_host(self, migrated: Specd, host: str) -> None:
        words = [host if word == "acme.example" else word for word in ACME]
        assert "is not a host name" in migrated.refusal(*words)

    @pytest.mark.parametrize(
        ("word", "instead", "problem"),
        [
            ("cordelia@acme.example", "cordelia", "Enter a valid email address."),
            ("Cordelia", "C", "Name too short!"),
            ("Cordelia", "C" * 101, "Name too long!"),
            ("Cordelia", "C*", "Invalid characters in name!"),
            ("Cordelia", "Cordelia|1", "Invalid format!"),
            ("Acme", " ", "Give the organization a name of 1 to 40 characters."),
        ],
    )
    def test_rejects_invalid_names_and_addresses(
        self, migrated: Specd, word: str, instead: str, problem: str
    ) -> None:
        words = [instead if w == word else w for w in ACME]
        assert migrated.refusal(*words) == problem


class TestCreateUser:
    @pytest.mark.parametrize("role", [100, 200, 300, 400, 600])
    def test_creates_users_of_each_role(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database, role: int
    ) -> None:
        made = migrated.json(
            "chat", "create-user", "--realm", "1", "--email", "hamlet@acme.example",
            "--name", "Hamlet", "--role", str(role),
        )  # fmt: skip
        assert set(made) == {"user_id", "email", "api_key"}
        actor = sign_in(chat_database, made)
        assert (actor.id, actor.role, actor.is_bot) == (made["user_id"], role, False)
        assert actor.can_create_users is actor.can_change_user_emails is False

    def test_creates_bots(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database
    ) -> None:
        bot = ("chat", "create-user", "--realm", "acme.example", "--name", "Reminder")
        owned = migrated.json(*bot, "--email", "a-bot@acme.example", "--bot-owner", "1")
        actor = sign_in(chat_database, owned)
        assert (actor.bot_type, actor.bot_owner_id) == (1, 1)
        legacy = migrated.json(*bot, "--email", "b-bot@acme.example", "--bot-type", "3")
        actor = sign_in(chat_database, legacy)
        assert (actor.bot_type, actor.bot_owner_id) == (3, None)

    def test_grants_special_permissions(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database
    ) -> None:
        made = migrated.json(
            "chat", "create-user", "--realm", "1", "--email", "iago@acme.example", "--name",
            "Iago", "--role", "200", "--can-create-users", "--can-change-user-emails",
        )  # fmt: skip
        actor = sign_in(chat_database, made)
        assert actor.can_create_users is actor.can_change_user_emails is True

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (("--email", "CORDELIA@acme.example"), "'CORDELIA@acme.example' already in use."),
            (("--email", "nonsense"), "Enter a valid email address."),
            (("--realm", "7"), "There is no organization 7"),
            (("--realm", "elsewhere.example"), "There is no organization elsewhere.example"),
            (("--bot-owner", "99"), "No such user."),
            (("--role", "500"), "'500' is not one of"),
            (("--bot-type", "5"), "'5' is not one of"),
            (("--bot-type", "1", "--password-file", __file__), "A bot has no password"),
            (("--password", "hush"), "--password would show the secret to every user"),
            (("--password-file", "/dev/null"), "There is no secret in /dev/null."),
            (("--password-file", "/nowhere"), "No such file or directory: /nowhere."),
        ],
    )
    def test_rejects_invalid_input_in_one_sentence(
        self, migrated: Specd, acme: dict[str, Any], words: tuple[str, ...], problem: str
    ) -> None:
        sentence = migrated.refusal(
            "chat", "create-user", "--realm", "1", "--email", "x@acme.example", "--name", "Xerxes",
            *words,
        )  # fmt: skip
        assert problem in sentence


class TestGrant:
    def test_grants_and_revokes_permissions(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database
    ) -> None:
        def rights() -> tuple[bool, bool]:
            actor = sign_in(chat_database, acme)
            return actor.can_create_users, actor.can_change_user_emails

        who = ("chat", "grant", "--realm", "acme.example", "--email", "CORDELIA@acme.example")
        assert rights() == (False, False)
        assert migrated.json(*who, "--create-users", "--change-user-emails") == {
            "user_id": acme["user_id"],
            "can_create_users": True,
            "can_change_user_emails": True,
        }
        assert rights() == (True, True)
        migrated.json(*who, "--no-create-users")
        assert rights() == (False, True)

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("cordelia@acme.example",), "--create-users"),
            (("nobody@acme.example", "--create-users"), "There is no user"),
            (("notification-bot@acme.example", "--create-users"), "There is no user"),
        ],
    )
    def test_rejects_invalid_input(
        self, migrated: Specd, acme: dict[str, Any], arguments: tuple[str, ...], message: str
    ) -> None:
        sentence = migrated.refusal("chat", "grant", "--realm", "1", "--email", *arguments)
        assert message in sentence


class TestSetRealm:
    @pytest.mark.parametrize(
        ("assignment", "name", "kept"),
        [
            ("message_content_delete_limit_seconds=60", "message_content_delete_limit_seconds", 60),
            (
                "message_content_delete_limit_seconds=null",
                "message_content_delete_limit_seconds",
                None,
            ),
            (
                "message_edit_history_visibility_policy=moves",
                "message_edit_history_visibility_policy",
                "moves",
            ),
            ('topics_policy="disable_empty_topic"', "topics_policy", "disable_empty_topic"),
            ("name=42", "name", "42"),
            ("description=a=b", "description", "a=b"),
            ("enable_spectator_access=true", "enable_spectator_access", True),
        ],
    )
    def test_accepts_json_and_text(
        self,
        migrated: Specd,
        acme: dict[str, Any],
        chat_database: Database,
        assignment: str,
        name: str,
        kept: Any,
    ) -> None:
        answer = migrated.json("chat", "set-realm", "--realm", "1", assignment)
        assert answer == {"realm_id": 1, "set": [name]}
        assert realm_column(chat_database, name) == kept

    @pytest.mark.parametrize(
        "group", ["everyone", "members", "moderators", "administrators", "owners", "nobody"]
    )
    def test_accepts_system_groups_by_name(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database, group: str
    ) -> None:
        migrated.json(
            "chat", "set-realm", "--realm", "acme.example",
            f"can_delete_own_message_group=role:{group}",
        )  # fmt: skip
        wanted = realm_column(chat_database, f"{group}_group_id")
        assert realm_column(chat_database, "can_delete_own_message_group") == wanted

    def test_changes_all_settings_or_none(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database
    ) -> None:
        migrated.refusal("chat", "set-realm", "--realm", "1", "name=New", "topics_policy=maybe")
        assert realm_column(chat_database, "name") == "Acme"

    @pytest.mark.parametrize(
        ("assignment", "problem"),
        [
            ("nonsense", "'nonsense' is not KEY=VALUE."),
            ("=1", "'' is not KEY=VALUE."),
            ("can_delete_own=1", "did you mean can_delete_own_message_group?"),
            ("moderation_request_channel_id=9", "Invalid channel ID."),
            ("can_create_groups=role:wizards", "Invalid user group."),
            ("can_create_groups=true", "can_create_groups is not a group setting value."),
            (
                'can_create_groups={"direct_members":[99]}',
                "Invalid user ID: 99.",
            ),
            ("allow_message_editing=yes", "allow_message_editing is not a boolean."),
        ],
    )
    def test_rejects_invalid_input_in_one_sentence(
        self, migrated: Specd, acme: dict[str, Any], assignment: str, problem: str
    ) -> None:
        assert problem in migrated.refusal("chat", "set-realm", "--realm", "1", assignment)


def test_missing_migration_is_reported(specd: Specd, tmp_path: Path) -> None:
    assert specd.refusal(*ACME) == (
        "The chat database is not migrated to this release; run `specd migrate` first."
    )
    assert not (tmp_path / "var" / "chat.db").exists()


def test_secret_of_another_data_directory_is_rejected(
    migrated: Specd,
    acme: dict[str, Any],
    chat_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = tmp_path / "var" / "chat-secret"
    assert secret.stat().st_mode & 0o777 == 0o600
    assert acme["api_key"] not in secret.read_text()
    words = ("create-user", "--realm", "1", "--email", "h@acme.example", "--name", "Hamlet")
    monkeypatch.setenv("SPECD_CHAT_SECRET", "one secret for all machines, long enough")
    assert "another SPECD_CHAT_SECRET" in migrated.refusal("chat", *words)
    monkeypatch.setenv("SPECD_CHAT_SECRET_PREVIOUS", secret.read_text())
    made = migrated.json("chat", *words)
    assert sign_in(chat_database, made).id == made["user_id"]
    assert sign_in(chat_database, acme).id == acme["user_id"]
    with pytest.raises(InvalidApiKey):
        sign_in(chat_database, {**acme, "api_key": made["api_key"]})


def test_new_members_join_the_default_channels(
    migrated: Specd, acme: dict[str, Any], chat_database: Database
) -> None:
    def open_channel(session: Session) -> None:
        owner = find_actor(session, acme["user_id"])
        assert owner is not None
        subscribe(
            session, owner, [WantedChannel("general")], NewChannel(is_default=True), principals=(),
            refuse_unauthorized=True, web_public_enabled=False, now=owner.date_joined,
        )  # fmt: skip

    chat_database.run(open_channel)
    joined = {}
    for name, role in (("hamlet", "400"), ("polonius", "600")):
        made = migrated.json(
            "chat", "create-user", "--realm", "1", "--email", f"{name}@acme.example",
            "--name", name, "--role", role,
        )  # fmt: skip
        with chat_database.reading() as reader:
            channels = select(Subscription.channel_id).where(
                Subscription.user_id == made["user_id"], Subscription.is_active
            )
            joined[name] = len(reader.execute(channels).all())
    assert joined == {"hamlet": 1, "polonius": 0}


class TestTokenSignIn:
    """`specd chat set-realm jwt_...`. tests/handlers/chat/test_jwt_sign_in.py tests sign-in."""

    def test_key_is_read_from_a_file_and_never_shown(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database, tmp_path: Path
    ) -> None:
        key = tmp_path / "key"
        key.write_text("canary: a shared secret of Acme's\n")
        words = ("chat", "set-realm", "--realm", "1", f"jwt_key=@{key}", "jwt_algorithms=HS256")
        missing = migrated.refusal(*words)
        assert missing.startswith("This cannot be set: jwt_audience is missing; it may be empty")
        status, out, err = migrated(*words, "jwt_audience=", "jwt_max_age=600")
        assert (status, err) == (0, "")
        assert out == "Organization 1: jwt_algorithms, jwt_audience, jwt_key, jwt_max_age set.\n"
        with chat_database.reading() as reader:
            sealed, algorithms, max_age_s = reader.execute(
                select(
                    JwtConfiguration.sealed_key,
                    JwtConfiguration.algorithms,
                    JwtConfiguration.max_age_s,
                )
            ).one()
        assert (algorithms, max_age_s) == ("HS256", 600)
        assert "canary" not in sealed
        vault = Vault(load_secret(tmp_path / "var" / "chat-secret", ""))
        assert vault.open(sealed, purpose="jwt_key:1") == "canary: a shared secret of Acme's"

    def test_invalid_key_is_rejected_in_one_sentence(
        self, migrated: Specd, acme: dict[str, Any], tmp_path: Path
    ) -> None:
        words = ("chat", "set-realm", "--realm", "1", "name=New")
        shown = migrated.refusal(*words, "jwt_key=canary")
        assert shown == "jwt_key is a secret: write jwt_key=@FILE, or jwt_key=@-."
        (tmp_path / "key").write_text("canary")
        words = (*words, f"jwt_key=@{tmp_path / 'key'}")
        assert migrated.refusal(*words) == "This cannot be set: jwt_algorithms is missing."
        short = migrated.refusal(*words, "jwt_algorithms=HS256")
        assert short == (
            "This cannot be set: jwt_key does not fit: HS256 requires a secret of at least 32 "
            "bytes, and it has 6."
        )
        lost = migrated.refusal("chat", "set-realm", "--realm", "1", "jwt_key=@/nowhere")
        assert lost == "No such file or directory: /nowhere."


class TestExport:
    def test_writes_an_archive(
        self, acme: dict[str, Any], specd: Specd, chat_database: Database
    ) -> None:
        made = specd.json("chat", "export", "--realm", "acme.example")
        assert set(made) == {"export_id", "archive", "rows", "bytes", "sha256"}
        assert verify_archive(Path(made["archive"]))["export_type"] == "public"
        assert Path(made["archive"]).stat().st_size == made["bytes"]
        status, out, _ = specd("chat", "export", "--realm", "1", "--type", "full_without_consent")
        assert status == 0
        assert out.splitlines()[1].endswith(".zip")

    def test_creates_archives_that_can_be_verified(
        self, acme: dict[str, Any], specd: Specd
    ) -> None:
        made = specd.json("chat", "export", "--realm", "acme.example")
        checked = specd.json("chat", "check-archive", made["archive"])
        assert checked["rows"] == made["rows"]
        with Path(made["archive"]).open("r+b") as archive:
            archive.truncate(made["bytes"] - 1)
        refusal = specd.refusal("chat", "check-archive", made["archive"])
        assert refusal == "The archive is damaged: this is not a .zip file (BadZipFile)."

    def test_reports_the_error(self, acme: dict[str, Any], specd: Specd, tmp_path: Path) -> None:
        (tmp_path / "var" / "exports").write_text("not a folder")
        refusal = specd.refusal("chat", "export", "--realm", "acme.example")
        assert refusal == "The export failed: FileExistsError."
        assert "nowhere" in specd.refusal("chat", "export", "--realm", "nowhere")


class TestImport:
    FULL = ("chat", "export", "--realm", "acme.example", "--type", "full_without_consent")

    def test_creates_an_organization(self, acme: dict[str, Any], specd: Specd) -> None:
        archive = specd.json(*self.FULL)["archive"]
        words = ("chat", "import", archive, "--host", "moved.example", "--name", "Moved")
        made = specd.json(*words)
        assert made["host"] == "moved.example"
        assert made["overdue"] == 0
        assert specd.json(*words) == made
        renewed = ("chat", "renew-key", "--realm", "moved.example", "--email", acme["email"])
        assert len(specd.json(*renewed)["api_key"]) == 32
        status, out, _ = specd(*words)
        assert status == 0
        assert "Not imported, with the required action" in out

    def test_users_get_passwords(
        self, acme: dict[str, Any], specd: Specd, chat_database: Database, tmp_path: Path
    ) -> None:
        archive = specd.json(*self.FULL)["archive"]
        specd.json("chat", "import", archive, "--host", "moved.example")
        (tmp_path / "secret").write_text("to be or not to be")
        words = ("--realm", "moved.example", "--email", acme["email"])
        file = str(tmp_path / "secret")
        user_id = specd.json("chat", "renew-key", *words, "--password-file", file)["user_id"]
        query = select(User.password_hash).where(User.id == user_id)
        with chat_database.reading() as reader:
            stored = reader.execute(query).scalar_one()
        assert is_password("to be or not to be", stored)

    def test_reports_the_error(self, acme: dict[str, Any], specd: Specd) -> None:
        full, part = (specd.json(*words)["archive"] for words in (self.FULL, self.FULL[:4]))
        to = ("--host", "moved.example")
        assert specd.refusal("chat", "import", part, *to) == (
            "The archive was rejected: 'manifest.json': is no export of the type"
            " full_without_consent, which alone has everything."
        )
        assert specd.refusal("chat", "import", full, "--host", "acme.example") == (
            "An organization already lives at acme.example; choose another host."
        )
        assert "a b" in specd.refusal("chat", "import", full, "--host", "a b")
        assert specd.refusal("chat", "import", *to, "--discard") == (
            "No unfinished import is at moved.example."
        )
        for words in ((), (full, "--discard")):
            status, _, err = specd("chat", "import", *words, *to)
            assert status == 2
            assert "Give an archive, or --discard an unfinished import." in err


class TestImportFromZulip:
    TO = ("--host", "moved.example", "--from", "zulip")

    @pytest.fixture
    def tarball(self, tmp_path: Path) -> str:
        return str(make_acme(12, passwords=False).write(tmp_path / "export.tar.gz"))

    def test_creates_an_organization(
        self, migrated: Specd, chat_database: Database, tarball: str, tmp_path: Path
    ) -> None:
        (tmp_path / "hashes.csv").write_text(
            f'{EMAILS[ADA].upper()},"{DJANGO_HASHES["argon2"]}"\nboris@acme.example,!x\n'
        )
        words = ("chat", "import", tarball, *self.TO, "--passwords", str(tmp_path / "hashes.csv"))
        made = migrated.json(*words, "--zulip-host", ZULIP_HOST)
        assert (made["host"], made["passwords"]) == ("moved.example", 1)
        dropped = {each["table"]: each["count"] for each in made["dropped"]}
        assert dropped["zerver_useractivity"] == 1
        query = select(User.password_hash).where(User.delivery_email == EMAILS[ADA])
        with chat_database.reading() as reader:
            assert reader.execute(query).scalar_one() == DJANGO_HASHES["argon2"]
        status, out, _ = migrated(*words, "--zulip-host", ZULIP_HOST)
        assert status == 0
        assert "1 passwords were imported." in out
        assert "- zerver_useractivity, 1: request counts of clients" in out

    def test_accepts_an_export_for_zulip(
        self, acme: dict[str, Any], specd: Specd, tmp_path: Path
    ) -> None:
        words = ("chat", "export", "--realm", "1", "--format", "zulip")
        status, _, err = specd(*words)
        assert status == 2
        assert "--format zulip needs --type full_without_consent." in err
        full = (*words, "--type", "full_without_consent")
        (tmp_path / "status.json").write_text('{"migrations_by_app": {"zerver": ["0001"]}}')
        made = specd.json(*full, "--migration-status", str(tmp_path / "status.json"))
        with tarfile.open(made["tarball"]) as tarball:
            status_file = tarball.extractfile("zulip-export/migration_status.json")
            assert status_file is not None
            assert b'"0001"' in status_file.read()
        imported = specd.json("chat", "import", made["tarball"], *self.TO)
        assert imported["host"] == "moved.example"
        status, _, err = specd(
            "chat", "export", "--realm", "1", "--migration-status", made["archive"]
        )
        assert status == 2
        assert "--migration-status needs --format zulip." in err

    def test_reports_the_error(self, migrated: Specd, tarball: str, tmp_path: Path) -> None:
        words = ("chat", "import", tarball, "--host", "moved.example")
        assert migrated.refusal(*words).startswith(
            "The archive was rejected: this is not a .zip file"
        )
        status, _, err = migrated(*words, "--zulip-host", ZULIP_HOST)
        assert status == 2
        assert "need --from zulip" in err
        (tmp_path / "not.tar.gz").write_text("no")
        refusal = migrated.refusal("chat", "import", str(tmp_path / "not.tar.gz"), *self.TO)
        assert refusal == "The archive was rejected: cannot be read (BadGzipFile)."
        hashes = tmp_path / "hashes.csv"
        for content, problem in (
            ("ada", "is not an address and a hash"),
            ("ada@acme.example,md5$x$y", "the hash is not a Django hash"),
        ):
            hashes.write_text(content)
            words = ("chat", "import", tarball, *self.TO, "--passwords", str(hashes))
            assert migrated.refusal(*words) == f"{hashes}, line 1: {problem}."


class TestFullContentAccess:
    def test_is_granted_by_the_operator(
        self, acme: dict[str, Any], specd: Specd, chat_database: Database
    ) -> None:
        specd.json("chat", "set-realm", "--realm", "1", "owner_full_content_access=true")
        assert realm_column(chat_database, "owner_full_content_access") is True


class TestAudit:
    def test_shows_changes_and_their_authors(self, migrated: Specd, acme: dict[str, Any]) -> None:
        migrated.json("chat", "set-realm", "--realm", "1", "name_changes_disabled=true")
        entries = migrated.json("chat", "audit", "--realm", "acme.example")["entries"]
        kinds = [entry["kind"] for entry in entries]
        assert "realm_created" in kinds
        assert kinds[-1] == "realm_setting_changed"
        newest = entries[-1]
        assert newest.pop("at").startswith("20")
        assert newest == {
            "id": len(entries),
            "kind": "realm_setting_changed",
            "actor_id": None,
            "user_id": None,
            "channel_id": None,
            "group_id": None,
            "facts": {"property": "name_changes_disabled", "old": False, "new": True},
            "key_id": None,
            "address": None,
            "request_id": None,
        }
        narrowed = ("chat", "audit", "--realm", "1", "--kind", "user_created", "--user", "1")
        (made,) = migrated.json(*narrowed)["entries"]
        assert (made["user_id"], made["facts"]["role"]) == (1, 100)
        (last,) = migrated.json("chat", "audit", "--realm", "1", "--limit", "1")["entries"]
        assert last["id"] == newest["id"]

    def test_prints_readable_text_without_json(self, migrated: Specd, acme: dict[str, Any]) -> None:
        status, out, err = migrated("chat", "audit", "--realm", "1", "--kind", "realm_created")
        assert (status, err) == (0, "")
        assert out.splitlines()[-1] == "1 entries."
        assert "realm_created  facts={'host': 'acme.example'}" in out


class TestKeys:
    def test_renewing_a_key_ends_the_old_key(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database
    ) -> None:
        new = migrated.json(
            "chat", "renew-key", "--realm", "acme.example", "--email", acme["email"]
        )
        assert new == {"user_id": 1, "email": acme["email"], "api_key": new["api_key"]}
        assert sign_in(chat_database, new).id == 1
        with pytest.raises(InvalidApiKey):
            sign_in(chat_database, acme)
        status, out, _ = migrated("chat", "renew-key", "--realm", "1", "--email", acme["email"])
        assert (status, out.splitlines()[0]) == (
            0, f"User 1, {acme['email']}, now has the API key",
        )  # fmt: skip

    def test_renewing_the_key_of_an_unknown_user_is_rejected(
        self, migrated: Specd, acme: dict[str, Any]
    ) -> None:
        nobody = ("--email", "nobody@acme.example")
        assert "nobody@acme.example" in migrated.refusal(
            "chat", "renew-key", "--realm", "acme.example", *nobody
        )

    def test_revoking_keys_ends_all_keys_of_an_organization(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        monkeypatch.setattr(key_renewal, "BATCH", 2)
        globex = migrated.json(
            "chat", "create-realm", "--name", "Globex", "--host", "globex.example",
            "--owner-email", "hank@globex.example", "--owner-name", "Hank",
        )  # fmt: skip
        user = ("--realm", "acme.example", "--name", "Hamlet", "--email", "hamlet@acme.example")
        hamlet = migrated.json("chat", "create-user", *user)
        assert migrated.json("chat", "revoke-keys", "acme.example") == {
            "realm_id": acme["realm_id"],
            "revoked": 3,  # including the notification bot's key
        }
        for made in (acme, hamlet):
            with pytest.raises(InvalidApiKey):
                sign_in(chat_database, made)
        assert sign_in(chat_database, globex, "globex.example").realm_id == globex["realm_id"]
        with chat_database.reading() as reader:
            noted = select(AuditLog.facts).where(AuditLog.kind == "realm_api_keys_revoked")
            assert reader.execute(noted).scalars().all() == ['{"keys":3}']
        assert migrated.refusal("chat", "revoke-keys", "nowhere.example")

    def test_reseal_encrypts_secrets_with_the_new_key(
        self, migrated: Specd, acme: dict[str, Any], chat_database: Database, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        key = tmp_path / "jwt-key"
        key.write_text("canary " * 8)
        rules = ("jwt_algorithms=HS256", f"jwt_key=@{key}", "jwt_audience=")
        migrated.json("chat", "set-realm", "--realm", "1", *rules)
        old = load_secret(tmp_path / "var" / "chat-secret", "").decode()
        monkeypatch.setenv("SPECD_CHAT_SECRET", "another secret of 32 bytes, and some more")
        monkeypatch.setenv("SPECD_CHAT_SECRET_PREVIOUS", old)
        assert migrated.json("chat", "reseal") == {"resealed": 1, "lost": 0}
        monkeypatch.delenv("SPECD_CHAT_SECRET_PREVIOUS")
        assert migrated.json("chat", "reseal") == {"resealed": 0, "lost": 0}
        assert sign_in(chat_database, acme).id == 1


def test_ids_are_skipped_after_a_restore(migrated: Specd) -> None:
    _, out, _ = migrated("chat", "after-restore")
    assert "Skipped 1000000 ids of messages, scheduled messages and events." in out
