"""`setting`: declarations in a project, and values in the environment."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

import pytest

from specd import Settings, _settings, setting
from specd._settings import settings_for_check
from specd.errors import SettingsError
from specd.settings import setting_for_each
from tests.support.stranger import Stranger


class Shop(Settings, prefix="SHOP_"):
    key: str = setting("Key at the carrier.", secret=True)
    url: str = setting("Address of the carrier.")
    is_open: bool = setting("Whether people can order.", default=True)
    tables: int = setting("Number of tables.", default=4, minimum=1, maximum=40)
    rate: float = setting("Rate of the tax.", default=0.2, maximum=1)
    patience_s: float = setting("Longest time to wait.", default=2.0, minimum=0.5, maximum=9)
    color: Literal["red", "blue"] = setting("Color of the door.", default="red")
    receipts: Path = setting("Folder of receipts.", default=Path("receipts"))
    pin: str = setting("Code of the till.", default="", minimum=4, secret=True)
    tip: Decimal = setting("Usual tip.", default=Decimal("0.1"), parse=Decimal)
    most: Mapping[str, int] = setting_for_each(
        {
            "cakes": setting("Most cakes in an order.", default=3, minimum=1, maximum=9),
            "rolls": setting("Most rolls in an order.", default=50),
        },
        variable="most_{}",
    )


GIVEN = {"SHOP_KEY": "k", "SHOP_URL": "https://carrier.example"}


class TestSettingWithoutDefault:
    def test_stops_the_start_with_its_name_and_description(self) -> None:
        with pytest.raises(SettingsError) as raised:
            Shop.from_env({"SHOP_URL": "https://carrier.example"})
        assert str(raised.value) == (
            "SHOP_KEY must be set, because it has no default: Key at the carrier."
        )

    def test_all_missing_settings_are_reported_together(self) -> None:
        with pytest.raises(SettingsError) as raised:
            Shop.from_env({"SHOP_KEY": ""})
        assert str(raised.value) == (
            "SHOP_KEY and SHOP_URL must be set, because they have no defaults: Key at the carrier."
            " Address of the carrier."
        )

    def test_is_read_from_the_environment_or_by_name(self) -> None:
        assert Shop.from_env(GIVEN) == Shop(key="k", url="https://carrier.example")
        with pytest.raises(SettingsError, match="SHOP_URL must be set"):
            Shop(key="k")

    def test_has_no_printed_default(self) -> None:
        described = {line.variable: line for line in Shop.from_env(GIVEN).describe(GIVEN)}
        assert described["SHOP_KEY"].default == ""
        assert described["SHOP_KEY"].value == "***"
        assert described["SHOP_URL"].value == "https://carrier.example"


class TestSettingsForCheck:
    """A project can be checked without required settings."""

    class Strict(Shop, prefix="STRICT_"):
        password: str = setting("Password.", minimum=20, secret=True)
        is_on: bool = setting("Whether it is on.")
        size: int = setting("Size.", minimum=3)
        share: float = setting("Share.", maximum=1)
        mode: Literal["slow", "fast"] = setting("Mode.")
        folder: Path = setting("Folder.")
        price: Decimal = setting("Price.", parse=Decimal)

    @pytest.fixture(autouse=True)
    def _use(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(_settings, "settings_class", lambda: self.Strict)

    def test_placeholders_have_the_type(self, tmp_path: Path) -> None:
        found: Any = settings_for_check(tmp_path, {})
        assert isinstance(found.key, str)
        assert len(found.password) == 20
        assert (found.is_on, found.size, found.share) == (False, 3, 0.0)
        assert (found.mode, found.price) == ("slow", None)
        assert isinstance(found.folder, Path)
        assert (found.tables, found.data_dir) == (4, tmp_path)

    def test_values_of_the_environment_take_precedence(self, tmp_path: Path) -> None:
        environ = {"STRICT_PRICE": "1.5", "SHOP_KEY": "k", "STRICT_SIZE": "x", "SHOP_TABLES": "9"}
        found: Any = settings_for_check(tmp_path, environ)
        assert (found.price, found.key, found.size) == (Decimal("1.5"), "k", 3)
        assert found.tables == 4  # it has a default


OWN = """
import specd


class Settings(specd.Settings, prefix="SHOP_"):
    token_key: str = specd.setting("Key that signs tokens.", secret=True)
"""


def test_project_without_a_required_setting_can_be_checked(tmp_path: Path) -> None:
    shop = Stranger(tmp_path)
    shop.specd("new", "greeter")
    (shop.path / "settings.py").write_text(OWN)
    wsgi = (shop.path / "wsgi.py").read_text()
    (shop.path / "wsgi.py").write_text(
        wsgi.replace('Project("greeter")', 'Project("greeter", settings="settings:Settings")')
    )
    sentence = "SHOP_TOKEN_KEY must be set, because it has no default: Key that signs tokens."
    assert shop.refusal("serve") == sentence
    assert shop.refusal("serve", SHOP_TOKEN_KEY=" ") == sentence
    assert "no mistakes" in shop.specd("check")
    ran = shop.run("pytest", "-p", "specd.testing", "-p", "no:cacheprovider")
    assert sentence in ran.stdout
    assert "In tests, return it from the fixture `service_settings`" in ran.stdout
    conftest = shop.path / "tests/conftest.py"
    conftest.write_text(f"{conftest.read_text() if conftest.exists() else ''}{GIVES}")
    ran = shop.run("pytest", "-p", "specd.testing", "-p", "no:cacheprovider")
    assert ran.returncode == 0, ran.stdout


GIVES = """
import pytest


@pytest.fixture
def service_settings():
    return {"token_key": "k"}
"""


class TestType:
    """The type of the field determines the parser."""

    @pytest.mark.parametrize(
        ("name", "text", "value"),
        [
            ("is_open", "off", False),
            ("tables", "40", 40),
            ("rate", "0.5", 0.5),
            ("patience_s", "0.75", 0.75),
            ("color", "BLUE", "blue"),
            ("receipts", "/srv/receipts", Path("/srv/receipts")),
            ("pin", "1234", "1234"),
            ("tip", "0.15", Decimal("0.15")),
        ],
    )
    def test_value_is_parsed(self, name: str, text: str, value: Any) -> None:
        settings = Shop.from_env({**GIVEN, f"SHOP_{name.upper()}": text})
        assert getattr(settings, name) == value

    @pytest.mark.parametrize(
        ("name", "text", "sentence"),
        [
            ("IS_OPEN", "perhaps", "SHOP_IS_OPEN must be true or false."),
            ("TABLES", "41", "SHOP_TABLES must be a whole number from 1 to 40."),
            ("RATE", "1.1", "SHOP_RATE must be a number from 0 to 1."),
            ("PATIENCE_S", "0.4", "SHOP_PATIENCE_S must be a number of seconds from 0.5 to 9."),
            ("COLOR", "green", "SHOP_COLOR must be one of red, blue."),
            ("PIN", "123", "SHOP_PIN must have at least 4 characters."),
            ("MOST_CAKES", "10", "SHOP_MOST_CAKES must be a whole number from 1 to 9."),
        ],
    )
    def test_invalid_value_is_rejected(self, name: str, text: str, sentence: str) -> None:
        with pytest.raises(SettingsError) as raised:
            Shop.from_env({**GIVEN, f"SHOP_{name}": text})
        assert str(raised.value) == sentence

    def test_missing_parser_is_an_error_of_the_project(self) -> None:
        class Lists(Settings, prefix="SHOP_"):
            names: tuple[str, ...] = setting("Names.", default=())

        with pytest.raises(TypeError, match=r"the setting names of the type .* requires parse="):
            Lists.variables()


class TestMapping:
    """`setting_for_each`: a variable for each key."""

    def test_missing_keys_have_their_defaults(self) -> None:
        assert Shop.from_env(GIVEN).most == {"cakes": 3, "rolls": 50}
        settings = Shop.from_env({**GIVEN, "SHOP_MOST_ROLLS": "60"})
        assert settings.most == {"cakes": 3, "rolls": 60}

    def test_unknown_variable_gets_a_suggestion(self) -> None:
        with pytest.raises(SettingsError, match="did you mean SHOP_MOST_CAKES"):
            Shop.from_env({**GIVEN, "SHOP_MOST_CAKE": "2"})


def test_export_has_set_values_and_secrets_from_files(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("k\n")
    environ = {
        "SHOP_URL": "https://carrier.example",
        "SHOP_KEY_FILE": str(tmp_path / "key"),
        "SHOP_PIN": " ",
        "SPECD_WORKERS": "3",
        "SPECD_TEST_POSTGRES_URL": "postgresql://x",
        "HOME": "/home/shop",
    }
    assert Shop.export(environ) == {
        "SHOP_KEY": "k",
        "SHOP_URL": "https://carrier.example",
        "SPECD_WORKERS": "3",
    }
