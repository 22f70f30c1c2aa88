"""Commands that query tokens of a chain: anvil, contracts of every kind, both databases."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from cli import payment_addresses, payment_methods
from demo.chain.testnet import TOKEN
from models.payment import invoices
from models.payment.addresses import derive_deposit_address
from models.payment.errors import PaymentMethodNotAllowed
from models.payment.invoice_view import InvoiceView
from settings import Settings
from specd.commands import open_database
from specd.db import Clock
from tests.adapters.chain.rpc_endpoint import Question, serving
from tests.cli.contracts import DECIMALS, contract, string, token, word
from tests.cli.runner import XPUB, Specd
from tests.live.chain_fixture import LocalChain, anvil  # noqa: F401

PLACE = "0x" + "c0de".rjust(40, "0")
NOBODY = "00000000-0000-4000-8000-000000000000"
CHAIN_ID = 31337


@pytest.fixture
def chain(anvil: LocalChain, monkeypatch: pytest.MonkeyPatch) -> LocalChain:  # noqa: F811
    monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", f"{CHAIN_ID}={anvil.url}")
    return anvil


def words(
    project: str, *, at: str = TOKEN, id: str = "tusd", symbol: str | None = "TUSD"
) -> tuple[str, ...]:
    of_symbol = () if symbol is None else ("--symbol", symbol)
    return (
        "payment", "create-method", "--project", project, "--id", id,
        "--chain-id", str(CHAIN_ID), "--token", at, *of_symbol,
    )  # fmt: skip


def warned(specd: Specd, *command: str) -> tuple[dict[str, Any], list[str]]:
    """Return the result of a successful command and its warnings, which it prints in both forms."""
    status, out, err = specd(*command, "--json")
    assert status == 0, err
    answer = json.loads(out)
    warnings = [line.removeprefix("Warning: ") for line in err.splitlines()]
    assert answer.get("warnings", warnings) == warnings
    return answer, warnings


def make_invoice(project: str, *, order: str = "order-1", method: str = "tusd") -> InvoiceView:
    with open_database("payment", Settings.from_env()) as database:
        return database.run(
            lambda session: invoices.create_invoice(
                session,
                invoices.check_order(
                    session,
                    project_id=project,
                    external_order_id=order,
                    attempt_no=1,
                    amount="1.5",
                    payment_method_id=method,
                ),
                xpub=XPUB,
                lifetime=timedelta(minutes=30),
                monitoring=timedelta(days=1),
                now=Clock().now(),
            )
        )


class TestCreateMethod:
    def test_accepts_a_matching_token(
        self, migrated: Specd, project: str, chain: LocalChain
    ) -> None:
        made = migrated.json(*words(project))
        assert (made["token_symbol"], made["decimals"], made["warnings"]) == ("TUSD", 6, [])

    def test_uses_the_symbol_of_the_contract(
        self, migrated: Specd, project: str, chain: LocalChain
    ) -> None:
        assert migrated.json(*words(project, symbol=None))["token_symbol"] == "TUSD"
        chain.call("anvil_setCode", PLACE, token(symbol=b"MKR".ljust(32, b"\0")))
        made = migrated.json(*words(project, at=PLACE, id="mkr", symbol=None))
        assert made["token_symbol"] == "MKR"

    @pytest.mark.parametrize(
        ("code", "message"),
        [
            ("0x", "no contract at that address"),
            (token(18), "18 decimals"),
            (token(0), "0 decimals"),
            (token(30), "30 decimals"),
            (token(2**200), "does not give its decimals"),
            (contract({}), "does not give its decimals"),
            (contract({DECIMALS: b""}), "does not give its decimals"),
            ("0xfe", "does not give its decimals"),
            (contract({DECIMALS: bytes(100_000)}), "does not give its decimals"),
            (token(symbol=string(b"DAI")), "symbol is DAI, not TUSD"),
        ],
        ids=["no-code", "18", "0", "30", "huge", "revert", "empty", "invalid", "long", "symbol"],
    )
    def test_rejects_mismatches(
        self,
        migrated: Specd,
        project: str,
        chain: LocalChain,
        rows: Callable[[], dict[str, int]],
        code: str,
        message: str,
    ) -> None:
        before = rows()
        chain.call("anvil_setCode", PLACE, code)
        assert message in migrated.refusal(*words(project, at=PLACE))
        assert rows() == before
        made = migrated.json(*words(project, at=PLACE), "--unchecked")
        assert made["warnings"] == []

    @pytest.mark.parametrize(
        ("symbol", "message"),
        [
            (None, "does not return its symbol"),
            (b"", "does not return its symbol"),
            (string(b""), "does not return its symbol"),
            (string(b"\xff\xfe"), "does not return its symbol"),
            (string(b"T" * 100_000), "does not return its symbol"),
            (word(2**255) + word(2**255), "does not return its symbol"),
            (word(32) + word(2**255), "does not return its symbol"),
            (string("USD\u20ae".encode()), "symbol is USD\u20ae, which is not valid for a method"),
            (string(b"\x1b[2J\nX"), "symbol is ?[2J?X, which"),
            (string(b"+" * 200), f"symbol is {'+' * 40}..., which"),
        ],
        ids=str,
    )
    def test_operator_must_replace_an_unusable_symbol(
        self, migrated: Specd, project: str, chain: LocalChain, symbol: bytes | None, message: str
    ) -> None:
        chain.call("anvil_setCode", PLACE, token(symbol=symbol))
        sentence = migrated.refusal(*words(project, at=PLACE, symbol=None))
        assert message in sentence
        assert "--symbol" in sentence
        made, (warning,) = warned(migrated, *words(project, at=PLACE))
        assert made["token_symbol"] == "TUSD"
        assert message in warning

    def test_warns_without_a_chain(self, migrated: Specd, project: str) -> None:
        assert "--symbol" in migrated.refusal(*words(project, symbol=None))
        _, (warning,) = warned(migrated, *words(project))
        assert "No RPC endpoint of chain 31337 is configured" in warning

    def test_rejects_if_the_chain_does_not_answer(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SPECD_CHAIN_RPC_TIMEOUT_S", "1")

        def limited(question: Question) -> None:
            if question.method == "eth_chainId":
                question.result(hex(CHAIN_ID))
            else:
                question.error(-32005, "daily request count exceeded")

        def other(question: Question) -> None:
            question.result("0x1")

        for answers, message in (
            (Question.hang, "no answer in time"),
            (limited, "daily request count exceeded"),
            (other, "serves chain 1"),
        ):
            with serving(answers, secret="s3cr3tkey") as endpoint:
                monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", endpoint.url)
                sentence = migrated.refusal(*words(project))
            assert message in sentence
            assert "--unchecked" in sentence
            assert "s3cr3tkey" not in sentence

    def test_skips_a_dead_endpoint(
        self, migrated: Specd, project: str, chain: LocalChain, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with serving(lambda question: question.result("0x1")) as other:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", f"{other.url},{chain.url}")
            assert migrated.json(*words(project))["warnings"] == []

    def test_unchecked_needs_a_symbol_and_does_not_query_the_chain(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "--symbol" in migrated.refusal(*words(project, symbol=None), "--unchecked")
        with serving(Question.hang) as endpoint:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", endpoint.url)
            migrated.json(*words(project), "--unchecked")
            assert endpoint.asked == []


class TestUsedAddresses:
    def test_address_with_tokens_gives_a_warning(
        self, migrated: Specd, project: str, chain: LocalChain
    ) -> None:
        used = derive_deposit_address(XPUB, 3)
        chain.pay(used, 5)
        _, (warning,) = warned(migrated, *words(project))
        assert f"0/3 ({used}) of the project's xpub already have TUSD" in warning
        chain.pay(derive_deposit_address(XPUB, 19), 1)
        chain.pay(derive_deposit_address(XPUB, 20), 1)
        _, (warning,) = warned(migrated, *words(project, id="again"))
        assert f"0/3 ({used}) and 1 more" in warning

    def test_assigned_addresses_may_have_tokens(
        self, migrated: Specd, project: str, chain: LocalChain
    ) -> None:
        migrated.json(*words(project))
        chain.pay(make_invoice(project).deposit_address, 5)
        assert migrated.json(*words(project, id="again"))["warnings"] == []

    def test_slow_chain_does_not_block(
        self,
        migrated: Specd,
        project: str,
        chain: LocalChain,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(payment_methods, "LONGEST_S", -1)
        _, (warning,) = warned(migrated, *words(project))
        assert "Not all of the next 20 addresses were checked" in warning


class TestListsAndSwitches:
    def test_methods_are_listed_disabled_and_enabled(self, migrated: Specd, project: str) -> None:
        migrated.json(*words(project), "--unchecked")

        def listed() -> Any:
            return migrated.json("payment", "list-methods", "--project", project)["methods"]

        (method,) = listed()
        assert method == {
            "id": "tusd",
            "chain_id": CHAIN_ID,
            "chain_name": "Chain 31337",
            "token_symbol": "TUSD",
            "token_address": TOKEN,
            "decimals": 6,
            "confirmations_required": 2,
            "disabled_at": None,
        }
        switch = ("--project", project, "--id", "tusd")
        at = migrated.json("payment", "disable-method", *switch)["disabled_at"]
        assert migrated.json("payment", "disable-method", *switch)["disabled_at"] == at
        assert listed() == [method | {"disabled_at": at}]
        with pytest.raises(PaymentMethodNotAllowed):
            make_invoice(project)
        assert migrated.json("payment", "enable-method", *switch)["disabled_at"] is None
        assert listed() == [method]
        make_invoice(project)

    @pytest.mark.parametrize("command", ["disable-method", "enable-method"])
    def test_rejects_unknown_objects(self, migrated: Specd, project: str, command: str) -> None:
        sentence = migrated.refusal("payment", command, "--project", project, "--id", "x")
        assert "no payment method named x" in sentence
        assert "no such project" in migrated.refusal(
            "payment", command, "--project", NOBODY, "--id", "x"
        )
        assert "no such project" in migrated.refusal("payment", "list-methods", "--project", NOBODY)

    def test_projects_are_listed(self, migrated: Specd, project: str) -> None:
        migrated.json(*words(project), "--unchecked")
        make_invoice(project)
        (listed,) = migrated.json("payment", "list-projects")["projects"]
        assert listed.pop("created_at")
        assert listed == {
            "project_id": project,
            "name": "Shop",
            "methods": 1,
            "next_address_index": 1,
            "tolerance": "none",
        }

    def test_tolerance_of_a_project_can_be_changed(self, migrated: Specd, project: str) -> None:
        words = ("payment", "set-project", "--project", project, "--tolerance")
        for tolerance in ("0.1%", "none"):
            answer = migrated.json(*words, tolerance)
            assert answer == {"project_id": project, "tolerance": tolerance}
            (listed,) = migrated.json("payment", "list-projects")["projects"]
            assert listed["tolerance"] == tolerance
        assert "at most 10%" in migrated.refusal(*words, "11%")
        assert "no such project" in migrated.refusal(
            "payment", "set-project", "--project", NOBODY, "--tolerance", "1%"
        )


class TestDoctor:
    def findings(self, specd: Specd) -> tuple[int, list[tuple[str, str]]]:
        status, out, _ = specd("doctor", "--json")
        return status, [
            (finding["state"], finding["detail"])
            for finding in json.loads(out.splitlines()[-1])["findings"]
            if finding["check"].startswith("payment method")
        ]

    def test_checks_every_method(self, migrated: Specd, project: str, chain: LocalChain) -> None:
        assert self.findings(migrated)[1] == []
        chain.call("anvil_setCode", PLACE, token(18))
        for number in range(3):
            migrated.json(*words(project, id=f"good-{number}"))
        assert self.findings(migrated)[1] == [("ok", "3 match their tokens.")]
        migrated.json(*words(project, at=PLACE, id="bad"), "--unchecked")
        status, (wrong, fitting) = self.findings(migrated)
        assert status == 1
        assert wrong[0] == "broken"
        assert "18 decimals" in wrong[1]
        assert fitting == ("ok", "3 match their tokens.")
        fix = wrong[1].partition("`specd ")[2].partition("`")[0].split()
        migrated.json(*fix)
        assert self.findings(migrated)[1] == [("ok", "3 match their tokens.")]

    def test_reports_an_impossible_check(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        migrated.json(*words(project), "--unchecked")
        (found,) = self.findings(migrated)[1]
        assert found[0] == "warning"
        assert "1 method of chain 31337" in found[1]
        with serving(lambda question: question.result("0x1")) as other:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", other.url)
            status, (found,) = self.findings(migrated)
        assert status == 1
        assert found[0] == "broken"
        assert "serves chain 1" in found[1]


class TestAddresses:
    def listed(self, specd: Specd, project: str, *more: str) -> list[dict[str, Any]]:
        status, out, err = specd("payment", "addresses", "--project", project, "--json", *more)
        assert (status, err) == (0, "")
        return [json.loads(line) for line in out.splitlines()]

    def test_lists_addresses_with_balances(
        self,
        migrated: Specd,
        project: str,
        chain: LocalChain,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(payment_addresses, "AT_ONCE", 2)
        assert self.listed(migrated, project) == []
        migrated.json(*words(project))
        made = [make_invoice(project, order=f"order-{number}") for number in range(5)]
        chain.pay(made[2].deposit_address, 7)
        chain.pay_native(made[2].deposit_address, 10**18)
        plain = self.listed(migrated, project)
        assert [line["address_index"] for line in plain] == [0, 1, 2, 3, 4]
        assert plain[2] == {
            "address_index": 2,
            "derivation_path": "m/44'/60'/0'/0/2",
            "deposit_address": made[2].deposit_address,
            "invoice_id": made[2].id,
            "external_order_id": "order-2",
            "status": "unpaid",
            "chain_id": CHAIN_ID,
            "token_address": TOKEN,
            "token_symbol": "TUSD",
            "counted": "0",
        }
        asked = self.listed(migrated, project, "--with-balances", "--from", "1", "--limit", "3")
        none = {"balance": "0", "native_balance": "0", "differs": False}
        some = {"balance": "7", "native_balance": str(10**18), "differs": True}
        assert asked == [plain[1] | none, plain[2] | some, plain[3] | none]
        _, out, _ = migrated(
            "payment", "addresses", "--project", project, "--with-balances", "--from", "2"
        )
        first, *rest = out.splitlines()
        assert first.endswith("holds 0.000007 TUSD  gas 1  DIFFERS")
        assert len(rest) == 2

    def test_omits_addresses_of_other_projects(self, migrated: Specd, project: str) -> None:
        other = migrated.json("payment", "create-project", "--name", "Two", "--xpub", XPUB)
        for each in (project, other["project_id"]):
            migrated.json(*words(each), "--unchecked")
            make_invoice(each)
        assert [line["address_index"] for line in self.listed(migrated, project)] == [0]
        (line,) = self.listed(migrated, other["project_id"])
        assert line["address_index"] == 1

    def test_reports_unknown_balances(
        self, migrated: Specd, project: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        migrated.json(*words(project), "--unchecked")
        make_invoice(project)
        words_ = ("payment", "addresses", "--project", project, "--with-balances", "--json")
        status, out, err = migrated(*words_)
        assert (status, json.loads(out)["balance"]) == (0, None)
        assert "no RPC endpoint of chain 31337" in err
        with serving(lambda question: question.result("0x1"), secret="s3cr3tkey") as other:
            monkeypatch.setenv("SPECD_CHAIN_RPC_URLS", other.url)
            sentence = migrated.refusal(*words_)
        assert "--from 0" in sentence
        assert "s3cr3tkey" not in sentence

    def test_ends_within_the_time_limit(
        self,
        migrated: Specd,
        project: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        migrated.json(*words(project), "--unchecked")
        make_invoice(project)
        clock = iter([0.0, 61.0])
        monkeypatch.setattr(payment_addresses.time, "monotonic", lambda: next(clock, 61.0))
        sentence = migrated.refusal("payment", "addresses", "--project", project)
        assert "continue with --from 0" in sentence

    def test_rejects_an_unknown_project(self, migrated: Specd) -> None:
        assert "no such project" in migrated.refusal("payment", "addresses", "--project", NOBODY)
