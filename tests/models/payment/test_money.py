"""Amounts: exact at any size, and nothing except an amount is accepted."""

import ast
import inspect
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import specs
from models.payment import money
from models.payment.errors import InvalidAmount, MalformedAmount
from models.payment.money import MAX_ATOMS, format_units, parse_amount

LARGEST = "115792089237316195423570985008687907853269984665640564039457584007913129.639935"
PATTERN = specs.load("payment")["components"]["schemas"]["InvoiceCreation"]["properties"]["amount"][
    "pattern"
]


class TestParseAmount:
    @given(st.integers(min_value=1, max_value=MAX_ATOMS))
    def test_written_amount_is_read_back(self, atoms: int) -> None:
        assert parse_amount(format_units(atoms)) == atoms

    @given(st.integers(min_value=1, max_value=MAX_ATOMS // 10**6), st.text("0", max_size=6))
    def test_trailing_zeros_change_nothing(self, whole: int, zeros: str) -> None:
        text = f"{whole}.{zeros}" if zeros else str(whole)
        assert parse_amount(text) == whole * 10**6

    @given(st.integers(0, 10**72 - 1), st.text("0123456789", max_size=6))
    def test_text_of_the_documents_pattern_is_accepted_or_invalid(
        self, integer: int, fraction: str
    ) -> None:
        whole = str(integer)
        text = f"{whole}.{fraction}" if fraction else whole
        assert re.fullmatch(PATTERN, text)
        atoms = int(whole) * 10**6 + int(fraction.ljust(6, "0"))
        if 0 < atoms <= MAX_ATOMS:
            assert parse_amount(text) == atoms
        else:
            with pytest.raises(InvalidAmount) as caught:
                parse_amount(text)
            assert not isinstance(caught.value, MalformedAmount)

    @given(st.text(max_size=90))
    def test_other_text_is_rejected(self, text: str) -> None:
        if re.fullmatch(PATTERN.strip("^$"), text, re.ASCII) is None:
            with pytest.raises(MalformedAmount):
                parse_amount(text)

    @pytest.mark.parametrize(
        "text",
        ["00.1", "1.", ".5", "1.0000000", "1.5\n", "\n1", "\uff11", "\u0661", "1_0", "", "9" * 73],
    )
    def test_text_similar_to_an_amount_is_rejected(self, text: str) -> None:
        with pytest.raises(MalformedAmount):
            parse_amount(text)

    @pytest.mark.parametrize(
        "text", ["0", "0.0", "0.000000", "9" * 72, LARGEST[:-1] + "6", "9" * 72 + ".999999"]
    )
    def test_amount_beyond_the_token_is_rejected(self, text: str) -> None:
        with pytest.raises(InvalidAmount):
            parse_amount(text)

    def test_largest_amount_is_accepted(self) -> None:
        assert parse_amount(LARGEST) == MAX_ATOMS == 2**256 - 1


class TestFormatUnits:
    @pytest.mark.parametrize(
        ("atoms", "text"),
        [(0, "0"), (1, "0.000001"), (1_500_000, "1.5"), (10**7, "10"), (MAX_ATOMS, LARGEST)],
    )
    def test_no_superfluous_zeros_are_written(self, atoms: int, text: str) -> None:
        assert format_units(atoms) == text

    def test_other_decimals_are_supported(self) -> None:
        assert [format_units(1230, places) for places in (0, 2, 18)] == [
            "1230",
            "12.3",
            "0.00000000000000123",
        ]


def test_no_float_or_decimal_computes_amounts() -> None:
    tree = ast.parse(inspect.getsource(money))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    floats = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, float)
    ]
    divisions = [node for node in ast.walk(tree) if isinstance(node, ast.Div)]
    assert (names & {"float", "Decimal", "round"}, floats, divisions) == (set(), [], [])
