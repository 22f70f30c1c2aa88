"""The commands scripts rely on: what they print, and one sentence for everything they refuse."""

import json
import socket
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cli.main import main
from settings import Settings

# m/44'/60'/0' of the published mnemonic "legal winner thank year wave sausage worth useful legal
# winner thank yellow", its private twin, and its parent m/44'/60' (computed with bip-utils).
XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbxqsByN"
    "NhwWaNQRuhP3JcC3"
)
XPRV = (
    "xprv9xhjoAai6MhLHcQm4Z2mWqkq96G2DqRUUrfF39fiomwGU2dKKRZUS4hXCCDSpqZyQwWCsG4e9NJknKd9TQHHF7jjizn"
    "DpUqUQZ9CNSWZeZg"
)
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
NOBODY = "00000000-0000-4000-8000-000000000000"


class Specd:
    """Runs `specd WORDS...` in this process and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *words: str) -> tuple[int, str, str]:
        """(exit status, standard output, standard error)."""
        with pytest.raises(SystemExit) as ended:
            main(list(words))
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err

    def json(self, *words: str) -> dict[str, Any]:
        """The JSON object on the last line of a command that must succeed."""
        status, out, err = self(*words, "--json")
        assert (status, err) == (0, "")
        answer: dict[str, Any] = json.loads(out.splitlines()[-1])
        return answer

    def refusal(self, *words: str) -> str:
        """The one sentence of a command that must fail and print nothing else."""
        status, out, err = self(*words)
        assert status != 0
        assert out == ""
        assert err.startswith("Error: ")
        assert err.endswith((".\n", "?\n"))
        assert err.count("\n") == 1, err
        assert "Traceback" not in err
        return err.removeprefix("Error: ").strip()


@pytest.fixture(autouse=True)
def _environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in Settings().describe({}):
        monkeypatch.delenv(name.variable, raising=False)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path / "var"))


@pytest.fixture
def specd(capsys: pytest.CaptureFixture[str]) -> Specd:
    return Specd(capsys)


@pytest.fixture
def migrated(specd: Specd) -> Specd:
    assert specd.json("migrate") == {"migrated": ["payment", "chat"]}
    return specd


@pytest.fixture
def project(migrated: Specd) -> str:
    created = migrated.json("payment", "create-project", "--name", "Shop", "--xpub", XPUB)
    assert list(created) == ["project_id"]
    return str(created["project_id"])


@pytest.fixture
def rows(tmp_path: Path) -> Callable[[], dict[str, int]]:
    """Counts the rows of every table: what a refused command must leave as it was."""

    def count() -> dict[str, int]:
        with sqlite3.connect(tmp_path / "var" / "payment.db") as connection:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            return {
                name: connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]
                for (name,) in tables.fetchall()
            }

    return count


class TestMigrate:
    def test_may_run_again(self, migrated: Specd, rows: Callable[[], dict[str, int]]) -> None:
        before = rows()
        assert migrated.json("migrate") == {"migrated": ["payment", "chat"]}
        assert rows() == before
        assert {"invoice", "payment", "api_key"} <= set(before)

    def test_says_what_it_did(self, specd: Specd) -> None:
        assert specd("migrate") == (0, "Migrated: payment.\n", "")

    def test_refuses_a_database_it_cannot_reach(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = "postgresql://specd:hush@127.0.0.1:1/specd"
        monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", url)
        assert "hush" not in specd.refusal("migrate")

    def test_refuses_a_file_that_is_no_database(self, specd: Specd, tmp_path: Path) -> None:
        (tmp_path / "var").mkdir()
        (tmp_path / "var" / "payment.db").write_text("Dear diary, " * 200)
        specd.refusal("migrate")


@pytest.mark.parametrize(
    "words",
    [
        ("serve",),
        ("worker",),
        ("payment", "create-project", "--name", "Shop", "--xpub", XPUB),
        ("payment", "create-key", "--project", NOBODY),
        ("payment", "list-keys", "--project", NOBODY),
        ("payment", "revoke-key", "--key", "00000000"),
        ("payment", "pay", NOBODY),
    ],
    ids=" ".join,
)
def test_without_migration_says_so_and_makes_no_file(
    specd: Specd, tmp_path: Path, words: tuple[str, ...]
) -> None:
    assert specd.refusal(*words) == (
        "The payment database is not migrated to this release; run `specd migrate` first."
    )
    assert not (tmp_path / "var" / "payment.db").exists()


class TestCreateProject:
    @pytest.mark.parametrize(
        ("xpub", "told"),
        [
            (XPRV, "private key"),
            ("xpub6nonsense", "not an account-level extended public key"),
            (XPUB[:-1] + ("4" if XPUB[-1] != "4" else "5"), "not an account-level"),
            ("", "not an account-level"),
            ("\x00", "not an account-level"),
        ],
        ids=["xprv", "nonsense", "wrong-checksum", "empty", "nul"],
    )
    def test_refuses_what_is_no_account_level_xpub(
        self, migrated: Specd, rows: Callable[[], dict[str, int]], xpub: str, told: str
    ) -> None:
        before = rows()
        sentence = migrated.refusal("payment", "create-project", "--name", "S", "--xpub", xpub)
        assert told in sentence
        assert len(xpub) < 5 or xpub[:20] not in sentence
        assert rows() == before

    @pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb"])
    def test_refuses_a_name_nobody_can_read(self, migrated: Specd, name: str) -> None:
        assert "name" in migrated.refusal(
            "payment", "create-project", "--name", name, "--xpub", XPUB
        )

    def test_never_echoes_a_private_key_typed_in_the_wrong_place(self, migrated: Specd) -> None:
        sentence = migrated.refusal("payment", "create-project", XPRV)
        assert XPRV[4:24] not in sentence

    @pytest.mark.parametrize("words", [("--name", "S"), ("--xpub", XPUB), ()])
    def test_asks_for_what_is_missing(self, migrated: Specd, words: tuple[str, ...]) -> None:
        assert "Missing option" in migrated.refusal("payment", "create-project", *words)


class TestKeys:
    def test_a_key_is_made_listed_and_revoked(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-key", "--project", project)
        assert sorted(made) == ["key", "key_id"]
        assert made["key"].startswith(f"prk_test_{made['key_id']}_")
        (listed,) = migrated.json("payment", "list-keys", "--project", project)["keys"]
        assert listed["key_id"] == made["key_id"]
        assert (listed["last_used_at"], listed["revoked_at"]) == (None, None)
        revoked = migrated.json("payment", "revoke-key", "--key", made["key_id"])
        assert revoked == {"key_id": made["key_id"], "revoked": True}
        (listed,) = migrated.json("payment", "list-keys", "--project", project)["keys"]
        assert listed["revoked_at"]

    def test_the_list_never_shows_a_key(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-key", "--project", project)
        _, out, _ = migrated("payment", "list-keys", "--project", project)
        assert made["key_id"] in out
        assert made["key"] not in out

    @pytest.mark.parametrize("command", ["create-key", "list-keys"])
    @pytest.mark.parametrize("unknown", [NOBODY, "Shop", "", "' OR 1=1 --"])
    def test_refuses_an_unknown_project(
        self, migrated: Specd, project: str, command: str, unknown: str
    ) -> None:
        sentence = migrated.refusal("payment", command, "--project", unknown)
        assert sentence.startswith("There is no such project")

    @pytest.mark.parametrize("unknown", ["00000000", "", "prk_test_00000000_" + "a" * 43])
    def test_refuses_to_revoke_an_unknown_key(
        self, migrated: Specd, project: str, unknown: str
    ) -> None:
        sentence = migrated.refusal("payment", "revoke-key", "--key", unknown)
        assert sentence.startswith("There is no such key")
        assert "a" * 43 not in sentence


def method_words(project_id: str, **over: str) -> list[str]:
    options = {
        "project": project_id,
        "id": "tusd-local",
        "chain-id": "31337",
        "token": TOKEN,
        "symbol": "TUSD",
        "confirmations": "2",
    } | over
    return [word for name, value in options.items() for word in (f"--{name}", value)]


class TestCreateMethod:
    def test_answers_the_method(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-method", *method_words(project))
        assert made == {
            "id": "tusd-local",
            "chain_id": 31337,
            "chain_name": "Chain 31337",
            "token_symbol": "TUSD",
            "token_address": TOKEN,
            "decimals": 6,
            "confirmations_required": 2,
        }

    @pytest.mark.parametrize("chain_id", ["1", "10", "56", "137", "8453", "42161", "43114"])
    def test_refuses_main_networks(self, migrated: Specd, project: str, chain_id: str) -> None:
        sentence = migrated.refusal(
            "payment", "create-method", *method_words(project, **{"chain-id": chain_id})
        )
        assert f"Chain {chain_id} is a main network and is refused" in sentence

    @pytest.mark.parametrize(
        "over",
        [
            {"chain-id": "0"},
            {"chain-id": "-5"},
            {"chain-id": "31337.5"},
            {"chain-id": "9" * 40},
            {"token": "0x123"},
            {"token": "5FbDB2315678afecb367f032d93F642f64180aa3"},
            {"token": TOKEN.replace("F", "f", 1)},
            {"symbol": ""},
            {"symbol": "T\u0000"},
            {"id": "white space"},
            {"id": "x" * 65},
            {"confirmations": "0"},
            {"confirmations": "many"},
            {"project": NOBODY},
        ],
        ids=str,
    )
    def test_refuses_bad_values_and_writes_nothing(
        self,
        migrated: Specd,
        project: str,
        rows: Callable[[], dict[str, int]],
        over: dict[str, str],
    ) -> None:
        before = rows()
        migrated.refusal("payment", "create-method", *method_words(project, **over))
        assert rows() == before

    def test_refuses_a_second_method_of_the_same_id(self, migrated: Specd, project: str) -> None:
        migrated.json("payment", "create-method", *method_words(project))
        sentence = migrated.refusal("payment", "create-method", *method_words(project))
        assert "already has a payment method named tusd-local" in sentence


class TestPay:
    def test_refuses_an_unknown_invoice(self, migrated: Specd) -> None:
        assert "no such invoice" in migrated.refusal("payment", "pay", NOBODY)

    @pytest.mark.parametrize("amount", ["0", "-1", "1.0000001", "1e3", "nan", "", "9" * 73])
    def test_refuses_a_bad_amount(self, migrated: Specd, amount: str) -> None:
        migrated.refusal("payment", "pay", NOBODY, "--amount", amount)


class TestConfigCheck:
    def test_lists_every_setting_with_its_origin(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_WORKERS", "3")
        listed = {line["variable"]: line for line in specd.json("config", "check")["settings"]}
        assert set(listed) == {line.variable for line in Settings().describe({})}
        assert listed["SPECD_WORKERS"]["value"] == "3"
        assert listed["SPECD_WORKERS"]["origin"] == "environment"
        assert listed["SPECD_BIND"]["origin"] == "default"

    def test_masks_secrets(self, specd: Specd, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", "postgresql://specd:hush@db/specd")
        monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", "https://rpc.test/v3/hush")
        for words in (("config", "check"), ("config", "check", "--json")):
            status, out, err = specd(*words)
            assert status == 0
            assert "hush" not in out + err


@pytest.mark.parametrize(
    "words", [("config", "check"), ("migrate",), ("serve",), ("worker",), ("demo",), ("doctor",)]
)
def test_a_bad_setting_stops_every_command(
    specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("SPECD_WORKERS", "lots")
    sentence = specd.refusal(*words)
    assert sentence == "SPECD_WORKERS must be a whole number from 1 to 128."
    assert not (tmp_path / "var").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("pamyent",), "No such command"),
        (("payment", "destroy"), "No such command"),
        (("migrate", "--hard"), "No such option"),
        (("worker", "coffee_maker"), "coffee_maker"),
        (("chain", "--port", "0"), "--port"),
        (("chain", "mine", "-1"), "option"),
        (("serve", "--only", "lunch"), "lunch"),
    ],
)
def test_a_wrong_command_line_is_one_sentence(
    specd: Specd, words: tuple[str, ...], told: str
) -> None:
    assert told.lower() in specd.refusal(*words).lower()


def test_an_unforeseen_failure_tells_its_kind_but_not_its_text(
    specd: Specd, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explode(settings: Settings) -> list[str]:
        raise RuntimeError("hush")

    monkeypatch.setattr("cli.migrate.migrate_all", explode)
    sentence = specd.refusal("migrate")
    assert sentence == "specd failed (RuntimeError); `specd --traceback ...` shows where."
    status, _, err = specd("--traceback", "migrate")
    assert status == 1
    assert "RuntimeError: hush" in err


class TestDoctor:
    def test_finds_a_healthy_database_and_no_chain(
        self, migrated: Specd, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8691")
        found = migrated.json("doctor")
        states = {line["check"]: line["state"] for line in found["findings"]}
        assert found["ok"] is True
        assert states == {
            "python": "ok",
            "clock": "ok",
            "payment database": "ok",
            "server": "ok",
            "chain": "warning",
        }

    def test_tells_what_is_broken_and_exits_1(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", "31337=http://127.0.0.1:1/hush")
        monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8691")
        status, out, _ = specd("doctor", "--json")
        found = json.loads(out)
        broken = {f["check"]: f["detail"] for f in found["findings"] if f["state"] == "broken"}
        assert status == 1
        assert found["ok"] is False
        assert broken == {
            "payment database": "there is no such file yet; run `specd migrate`.",
            "endpoint 1 (127.0.0.1:1)": "cannot connect.",
        }
        assert not (tmp_path / "var").exists()


class TestDemo:
    @pytest.mark.parametrize("variable", ["SPECD_BIND", "SPECD_CHAIN_PORT"])
    def test_says_which_port_is_taken_and_starts_nothing(
        self, specd: Specd, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            monkeypatch.setenv("SPECD_BIND", "127.0.0.1:8692")
            monkeypatch.setenv("SPECD_CHAIN_PORT", "8693")
            monkeypatch.setenv(variable, f"127.0.0.1:{port}" if "BIND" in variable else str(port))
            sentence = specd.refusal("demo")
        assert sentence.startswith(f"Cannot listen on 127.0.0.1:{port} (Address already in use)")
        assert sentence.endswith(f"choose another with {variable}.")
        assert not (tmp_path / "var").exists()
