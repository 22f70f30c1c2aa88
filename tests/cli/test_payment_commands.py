"""`specd payment ...` on both databases: created objects and errors."""

from collections.abc import Callable

import pytest

from tests.cli.runner import XPUB, Specd

# The private key of XPUB.
XPRV = (
    "xprv9xhjoAai6MhLHcQm4Z2mWqkq96G2DqRUUrfF39fiomwGU2dKKRZUS4hXCCDSpqZyQwWCsG4e9NJknKd9TQHHF7jjizn"
    "DpUqUQZ9CNSWZeZg"
)
TOKEN = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
NOBODY = "00000000-0000-4000-8000-000000000000"


class TestCreateProject:
    @pytest.mark.parametrize(
        ("xpub", "message"),
        [
            (XPRV, "private key"),
            ("xpub6nonsense", "not an account-level extended public key"),
            (XPUB[:-1] + ("4" if XPUB[-1] != "4" else "5"), "not an account-level"),
            ("", "not an account-level"),
            ("\x00", "not an account-level"),
        ],
        ids=["xprv", "nonsense", "wrong-checksum", "empty", "nul"],
    )
    def test_rejects_an_xpub_of_another_level(
        self, migrated: Specd, rows: Callable[[], dict[str, int]], xpub: str, message: str
    ) -> None:
        before = rows()
        sentence = migrated.refusal("payment", "create-project", "--name", "S", "--xpub", xpub)
        assert message in sentence
        assert len(xpub) < 5 or xpub[:20] not in sentence
        assert rows() == before

    @pytest.mark.parametrize("name", ["", "   ", "x" * 201, "a\nb"])
    def test_rejects_an_unreadable_name(self, migrated: Specd, name: str) -> None:
        assert "name" in migrated.refusal(
            "payment", "create-project", "--name", name, "--xpub", XPUB
        )

    def test_never_prints_a_private_key_from_the_wrong_argument(self, migrated: Specd) -> None:
        sentence = migrated.refusal("payment", "create-project", XPRV)
        assert XPRV[4:24] not in sentence

    @pytest.mark.parametrize("words", [("--name", "S"), ("--xpub", XPUB), ()])
    def test_requires_missing_values(self, migrated: Specd, words: tuple[str, ...]) -> None:
        assert "Missing option" in migrated.refusal("payment", "create-project", *words)


class TestKeys:
    def test_key_is_created_listed_and_revoked(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-key", "--project", project)
        assert sorted(made) == ["key", "key_id", "scope"]
        assert made["key"].startswith(f"prk_test_{made['key_id']}_")
        (listed,) = migrated.json("payment", "list-keys", "--project", project)["keys"]
        assert listed["key_id"] == made["key_id"]
        assert (made["scope"], listed["scope"]) == ("write", "write")
        assert (listed["last_used_at"], listed["revoked_at"]) == (None, None)
        revoked = migrated.json("payment", "revoke-key", "--key", made["key_id"])
        assert revoked == {"key_id": made["key_id"], "revoked": True}
        (listed,) = migrated.json("payment", "list-keys", "--project", project)["keys"]
        assert listed["revoked_at"]

    def test_key_can_be_read_only(self, migrated: Specd, project: str) -> None:
        words = ("payment", "create-key", "--project", project, "--scope")
        made = migrated.json(*words, "read")
        assert made["scope"] == "read"
        (listed,) = migrated.json("payment", "list-keys", "--project", project)["keys"]
        assert (listed["key_id"], listed["scope"]) == (made["key_id"], "read")
        _, out, _ = migrated(*words, "read")
        assert "it is read-only" in out
        assert "'admin' is not one of" in migrated.refusal(*words, "admin")

    def test_list_never_shows_a_key(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-key", "--project", project)
        _, out, _ = migrated("payment", "list-keys", "--project", project)
        assert made["key_id"] in out
        assert made["key"] not in out

    @pytest.mark.parametrize("command", ["create-key", "list-keys"])
    @pytest.mark.parametrize("unknown", [NOBODY, "Shop", "", "' OR 1=1 --"])
    def test_rejects_an_unknown_project(
        self, migrated: Specd, project: str, command: str, unknown: str
    ) -> None:
        sentence = migrated.refusal("payment", command, "--project", unknown)
        assert sentence.startswith("There is no such project")

    @pytest.mark.parametrize("unknown", ["00000000", "", "prk_test_00000000_" + "a" * 43])
    def test_rejects_an_unknown_key(self, migrated: Specd, project: str, unknown: str) -> None:
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
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return [*words, "--unchecked"]


class TestCreateMethod:
    def test_returns_the_method(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-method", *method_words(project))
        assert made == {
            "id": "tusd-local",
            "chain_id": 31337,
            "chain_name": "Chain 31337",
            "token_symbol": "TUSD",
            "token_address": TOKEN,
            "decimals": 6,
            "confirmations_required": 2,
            "warnings": [],
        }

    @pytest.mark.parametrize("chain_id", ["1", "10", "56", "137", "8453", "42161", "43114"])
    def test_rejects_main_networks(self, migrated: Specd, project: str, chain_id: str) -> None:
        sentence = migrated.refusal(
            "payment", "create-method", *method_words(project, **{"chain-id": chain_id})
        )
        assert f"Chain {chain_id} is a main network, which is not supported" in sentence

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
    def test_rejects_invalid_values_and_writes_nothing(
        self,
        migrated: Specd,
        project: str,
        rows: Callable[[], dict[str, int]],
        over: dict[str, str],
    ) -> None:
        before = rows()
        migrated.refusal("payment", "create-method", *method_words(project, **over))
        assert rows() == before

    def test_rejects_a_second_method_with_the_same_id(self, migrated: Specd, project: str) -> None:
        migrated.json("payment", "create-method", *method_words(project))
        sentence = migrated.refusal("payment", "create-method", *method_words(project))
        assert "already has a payment method named tusd-local" in sentence


class TestPay:
    def test_rejects_an_unknown_invoice(self, migrated: Specd) -> None:
        assert "no such invoice" in migrated.refusal("payment", "pay", NOBODY)

    @pytest.mark.parametrize("amount", ["0", "-1", "1.0000001", "1e3", "nan", "", "9" * 73])
    def test_rejects_an_invalid_amount(self, migrated: Specd, amount: str) -> None:
        migrated.refusal("payment", "pay", NOBODY, "--amount", amount)


class TestWebhooks:
    URL = "https://93.184.215.14/webhooks"

    def test_creates_and_lists(self, migrated: Specd, project: str) -> None:
        made = migrated.json("payment", "create-endpoint", "--project", project, "--url", self.URL)
        assert list(made) == ["id", "url", "secret"]
        assert made["secret"].startswith("whsec_")
        (listed,) = migrated.json("payment", "list-endpoints", "--project", project)["endpoints"]
        assert (listed["id"], listed["url"], listed["event_types"]) == (
            made["id"],
            self.URL,
            ["*"],
        )

    def test_rejects_internal_addresses(
        self, migrated: Specd, project: str, rows: Callable[[], dict[str, int]]
    ) -> None:
        before = rows()
        message = migrated.refusal(
            "payment", "create-endpoint", "--project", project, "--url", "https://127.0.0.1/"
        )
        assert "not public" in message
        assert rows() == before

    def test_reseals_with_a_new_secret(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_PAYMENT_SECRET", "a" * 32)
        migrated.json("payment", "create-endpoint", "--project", project, "--url", self.URL)
        monkeypatch.setenv("SPECD_PAYMENT_SECRET", "b" * 32)
        monkeypatch.setenv("SPECD_PAYMENT_SECRET_PREVIOUS", "a" * 32)
        assert migrated.json("payment", "reseal") == {"resealed": 1}
        assert migrated.json("payment", "reseal") == {"resealed": 0}
        monkeypatch.delenv("SPECD_PAYMENT_SECRET_PREVIOUS")
        migrated.json("payment", "create-endpoint", "--project", project, "--url", self.URL)
        monkeypatch.setenv("SPECD_PAYMENT_SECRET", "a" * 32)
        message = migrated.refusal(
            "payment", "create-endpoint", "--project", project, "--url", self.URL
        )
        assert "another SPECD_PAYMENT_SECRET" in message

    def test_lost_secret_can_be_replaced(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_PAYMENT_SECRET", "a" * 32)
        migrated.json("payment", "create-endpoint", "--project", project, "--url", self.URL)
        monkeypatch.setenv("SPECD_PAYMENT_SECRET", "b" * 32)
        assert "another SPECD_PAYMENT_SECRET" in migrated.refusal("payment", "reseal")
        message = migrated.json("payment", "reseal", "--without-previous")
        assert message == {"resealed": 0}
        migrated.json("payment", "create-endpoint", "--project", project, "--url", self.URL)


def test_command_after_a_restore_lists_the_losses(migrated: Specd, project: str) -> None:
    words = ("payment", "after-restore", "--addresses", "10", "--ids", "20")
    _, out, _ = migrated(*words)
    assert "Skipped 10 addresses of 1 wallets, and 20 event ids." in out
    assert "Invoices, API keys" in out
    assert migrated.json(*words) == {"wallets": 1}
    assert "Invalid value" in migrated.refusal("payment", "after-restore", "--ids", "0")
