"""Settings: valid values of environment variables, and errors about invalid ones."""

from pathlib import Path

import pytest

from cli.demo import Demo
from settings import Settings
from specd import _settings as base_settings
from specd import setting
from specd._settings import variables
from specd.errors import SettingsError


def test_empty_environment_gives_the_documented_defaults() -> None:
    settings = Settings.from_env({"PATH": "/bin"})
    assert settings == Settings()
    assert settings.database_urls["payment"] == "sqlite:///var/payment.db"
    assert settings.database_urls["chat"] == "sqlite:///var/chat.db"
    assert settings.public_url == "http://127.0.0.1:8080"
    assert settings.metrics_dir == Path("var/metrics")
    assert settings.invoice_lifetime_s == 1800
    assert settings.invoice_monitoring_s == 86_400
    assert settings.rate_limits is True


def test_empty_variable_counts_as_unset() -> None:
    assert Settings.from_env({"SPECD_WORKERS": "", "SPECD_BIND": "  "}) == Settings()


def test_derived_default_follows_the_other_setting() -> None:
    settings = Settings.from_env({"SPECD_DATA_DIR": "/data", "SPECD_BIND": "0.0.0.0:9000"})
    assert settings.database_urls["payment"] == "sqlite:////data/payment.db"
    assert settings.metrics_dir == Path("/data/metrics")
    assert settings.public_url == "http://127.0.0.1:9000"


@pytest.mark.parametrize(
    ("variable", "text", "field", "value"),
    [
        ("SPECD_WORKERS", "4", "workers", 4),
        ("SPECD_LOCK_TIMEOUT_S", "0.5", "lock_timeout_s", 0.5),
        ("SPECD_DEVELOPMENT", "TRUE", "development", True),
        ("SPECD_RATE_LIMITS", "off", "rate_limits", False),
        ("SPECD_LOG_LEVEL", "DEBUG", "log_level", "debug"),
        ("SPECD_BIND", "[::1]:8080", "bind", "[::1]:8080"),
        ("SPECD_PUBLIC_URL", "https://pay.test/shop/", "public_url", "https://pay.test/shop"),
        (
            "SPECD_WALLET_RPC_URLS",
            "31337=http://127.0.0.1:8545, 11155111=https://rpc.test/public",
            "wallet_rpc_urls",
            ("31337=http://127.0.0.1:8545", "11155111=https://rpc.test/public"),
        ),
        (
            "SPECD_CHAIN_RPC_URLS",
            "31337=http://127.0.0.1:8545, https://rpc.test/v3/key,",
            "chain_rpc_urls",
            ("31337=http://127.0.0.1:8545", "https://rpc.test/v3/key"),
        ),
    ],
)
def test_value_is_parsed(variable: str, text: str, field: str, value: object) -> None:
    assert getattr(Settings.from_env({variable: text}), field) == value


def test_each_quota_has_a_variable() -> None:
    quotas = Settings.from_env({"SPECD_CHAT_DRAFTS_PER_USER": "7"}).chat_quotas
    assert quotas == {**Settings().chat_quotas, "drafts_per_user": 7}


def test_variable_selects_the_database_of_a_service() -> None:
    settings = Settings.from_env({"SPECD_PAYMENT_DATABASE_URL": "postgres://u:p@db/specd"})
    assert settings.database_urls["payment"] == "postgresql+psycopg://u:p@db/specd"
    assert settings.database_urls["chat"] == "sqlite:///var/chat.db"


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("SPECD_WORKRES", "2", "SPECD_WORKRES is not a setting: did you mean SPECD_WORKERS."),
        (
            "SPECD_CHAT_DRAFT_PER_USER",
            "9",
            "SPECD_CHAT_DRAFT_PER_USER is not a setting: did you mean SPECD_CHAT_DRAFTS_PER_USER.",
        ),
        (
            "SPECD_CHAT_REACTION_EMOJI_PER_MESSAGE",
            "10001",
            "SPECD_CHAT_REACTION_EMOJI_PER_MESSAGE must be a whole number from 1 to 10000.",
        ),
        ("SPECD_WORKERS", "0", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_WORKERS", "\uff12", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_WORKERS", "1e3", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_CHAIN_POLL_S", "nan", "SPECD_CHAIN_POLL_S must be a number of seconds from 0.05"),
        ("SPECD_DEVELOPMENT", "maybe", "SPECD_DEVELOPMENT must be true or false."),
        ("SPECD_LOG_LEVEL", "loud", "SPECD_LOG_LEVEL must be one of debug, info, warning, error."),
        ("SPECD_BIND", "8080", "SPECD_BIND must be HOST:PORT, for example 127.0.0.1:8080."),
        ("SPECD_BIND", "localhost:70000", "SPECD_BIND must be HOST:PORT"),
        ("SPECD_PUBLIC_URL", "ftp://x", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PUBLIC_URL", "http://x/a/../pw9", "SPECD_PUBLIC_URL must have a path of letters"),
        ("SPECD_PUBLIC_URL", "http://u:p@x", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PUBLIC_URL", "http://x:99999", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PAYMENT_DATABASE_URL", "sqlite://", "SPECD_PAYMENT_DATABASE_URL must be sqlite:/"),
        ("SPECD_PAYMENT_DATABASE_URL", "mysql://u:pw9@h/d", "SPECD_PAYMENT_DATABASE_URL must be"),
        ("SPECD_CHAT_DATABASE_URL", "postgres://u:pw9@h:x/d", "SPECD_CHAT_DATABASE_URL must be"),
        ("SPECD_CHAIN_RPC_URLS", "http://a,ws://pw9.b", "SPECD_CHAIN_RPC_URLS must be a comma-sep"),
        ("SPECD_WALLET_RPC_URLS", "https://rpc.test", "SPECD_WALLET_RPC_URLS must be a comma-sep"),
        ("SPECD_WALLET_RPC_URLS", "1=https://u:pw9@x", "SPECD_WALLET_RPC_URLS must be a comma-sep"),
    ],
)
def test_invalid_value_is_rejected_in_one_sentence_without_repeating_it(
    variable: str, text: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings.from_env({variable: text})
    message = str(raised.value)
    assert message.startswith(sentence)
    assert message.endswith(".")
    assert "\n" not in message
    assert "pw9" not in message


def test_variables_of_the_test_suite_are_ignored() -> None:
    assert Settings.from_env({"SPECD_TEST_POSTGRES_URL": "postgresql://x"}) == Settings()


def test_describe_masks_secrets_and_shows_the_origin() -> None:
    env = {
        "SPECD_PAYMENT_DATABASE_URL": "postgresql://u:hush@h/d?password=hush2",
        "SPECD_CHAIN_RPC_URLS": "31337=http://127.0.0.1:8545,https://a:hush3@rpc.test/v3/hush4?k=h",
    }
    described = {line.variable: line for line in Settings.from_env(env).describe(env)}
    database = described["SPECD_PAYMENT_DATABASE_URL"]
    assert database.value == "postgresql+psycopg://u:***@h/d?***"
    assert database.origin == "environment"
    rpc = described["SPECD_CHAIN_RPC_URLS"].value
    assert rpc == "31337=http://127.0.0.1:8545,https://***@rpc.test/***"
    assert described["SPECD_WORKERS"].origin == "default"
    assert described["SPECD_WORKERS"].default == "2"


def test_printed_settings_contain_no_secret() -> None:
    env = {
        "SPECD_CHAT_DATABASE_URL": "postgresql://u:hush@h/d",
        "SPECD_CHAIN_RPC_URLS": "https://rpc.test/hush",
    }
    assert "hush" not in repr(Settings.from_env(env))


class TestProxies:
    def test_addresses_networks_and_sockets_are_accepted(self) -> None:
        settings = Settings.from_env({"SPECD_TRUSTED_PROXIES": "10.0.0.0/8, ::1,Unix"})
        assert settings.trusted_proxies == ("10.0.0.0/8", "::1/128", "unix")
        assert Settings.from_env({}).trusted_proxies == ()

    @pytest.mark.parametrize("text", ["*", "proxy.example", "10.0.0.1/8", "10.0.0.0/33", "1"])
    def test_other_values_are_rejected(self, text: str) -> None:
        with pytest.raises(SettingsError, match="SPECD_TRUSTED_PROXIES must be a comma-separated"):
            Settings.from_env({"SPECD_TRUSTED_PROXIES": text})


class TestSecretFiles:
    """NAME_FILE contains the secret NAME. It exists for every secret and for nothing else."""

    def test_every_secret_can_come_from_a_file(self, tmp_path: Path) -> None:
        secrets = {name for name, known_as in variables().items() if known_as.is_secret}
        assert len(secrets) > 5
        for name in variables().keys() - secrets:
            with pytest.raises(SettingsError, match=f"{name}_FILE is not a setting"):
                Settings.from_env({f"{name}_FILE": "x"})
        file = tmp_path / "secret"
        file.write_text("a secret of thirty-two characters, at least\n")
        for name in ("SPECD_CHAT_SECRET", "SPECD_PUSH_RELAY_KEY"):
            settings = Settings.from_env({f"{name}_FILE": str(file)})
            value = getattr(settings, name.removeprefix("SPECD_").lower())
            assert value == "a secret of thirty-two characters, at least"
            (row,) = [row for row in settings.describe({f"{name}_FILE": str(file)})
                      if row.variable == name]  # fmt: skip
            assert (row.value, row.origin) == ("***", "environment")

    def test_unusable_file_is_rejected(self, tmp_path: Path) -> None:
        (tmp_path / "empty").write_text("\n")
        for env, problem in (
            (
                {"SPECD_CHAT_SECRET_FILE": str(tmp_path / "none")},
                "SPECD_CHAT_SECRET_FILE cannot be",
            ),
            ({"SPECD_CHAT_SECRET_FILE": str(tmp_path / "empty")}, "names an empty file"),
            ({"SPECD_CHAT_SECRET_FILE": "x", "SPECD_CHAT_SECRET": "y" * 32}, "are both set"),
        ):
            with pytest.raises(SettingsError, match=problem):
                Settings.from_env(env)


class TestExposure:
    """Settings that would open this machine to others are rejected."""

    @pytest.mark.parametrize("bind", ["0.0.0.0:80", "[::]:80", "10.1.2.3:80", "pay.example:80"])
    def test_development_mode_requires_loopback(self, bind: str) -> None:
        with pytest.raises(SettingsError, match="SPECD_DEVELOPMENT allows sign-in without"):
            Settings.from_env({"SPECD_DEVELOPMENT": "true", "SPECD_BIND": bind})
        assert Settings.from_env({"SPECD_BIND": bind}).development is False

    @pytest.mark.parametrize("bind", ["127.0.0.1:80", "[::1]:80", "localhost:80", "127.9.9.9:80"])
    def test_development_mode_on_loopback_is_accepted(self, bind: str) -> None:
        assert Settings.from_env({"SPECD_DEVELOPMENT": "true", "SPECD_BIND": bind}).development

    @pytest.mark.parametrize(
        ("urls", "is_local"),
        [
            ("http://127.0.0.1:8545,31337=http://localhost:1", True),
            ("", True),
            ("https://rpc.example", False),
            ("http://127.0.0.1:8545,11155111=https://rpc.example/x?a=b", False),
        ],
    )
    def test_test_helpers_require_local_chains(self, urls: str, is_local: bool) -> None:
        env = {"SPECD_CHAIN_RPC_URLS": urls, "SPECD_PAYMENT_TEST_HELPERS": "on"}
        if is_local:
            assert Settings.from_env(env).has_test_helpers
        else:
            with pytest.raises(SettingsError, match="TEST_HELPERS=public allows others"):
                Settings.from_env(env)
        for value, is_served in (("public", True), ("off", False)):
            settings = Settings.from_env(env | {"SPECD_PAYMENT_TEST_HELPERS": value})
            assert settings.has_test_helpers is is_served

    @pytest.mark.parametrize(("urls", "helpers"), [("", "on"), ("1337=https://rpc.example", "off")])
    def test_demo_has_test_helpers_for_its_own_chain(self, urls: str, helpers: str) -> None:
        settings = Demo.from_env({"SPECD_CHAIN_RPC_URLS": urls}).settings
        assert settings.payment_test_helpers == helpers

    @pytest.mark.parametrize("bind", ["0.0.0.0:8080", "[::]:8080", "192.0.2.7:8080"])
    def test_public_demo_has_no_development_access(self, bind: str) -> None:
        settings = Demo.from_env({"SPECD_BIND": bind}).settings
        assert (settings.development, settings.rate_limits) == (False, True)
        with pytest.raises(SettingsError, match="SPECD_DEVELOPMENT"):
            Demo.from_env({"SPECD_BIND": bind, "SPECD_DEVELOPMENT": "true"})
        alone = Demo.from_env({"SPECD_BIND": "127.0.0.1:8080"}).settings
        assert (alone.development, alone.rate_limits) == (True, False)

    @pytest.mark.parametrize(
        ("name", "url"),
        [
            ("SPECD_PUSH_RELAY_URL", "http://push.example"),
            ("SPECD_VIDEO_VENDOR_URL", "http://10.0.0.1:9"),
            ("SPECD_VIDEO_VENDOR_API_URL", "http://localhost.example"),
            ("SPECD_CHAIN_RPC_URLS", "https://a.example,11155111=http://rpc.example/x?a=b"),
            ("SPECD_CHAIN_RPC_URLS", "http://rpc.example/x?a=b"),
        ],
    )
    def test_external_services_require_https(self, name: str, url: str) -> None:
        with pytest.raises(SettingsError, match=f"{name} must be an https URL"):
            Settings.from_env({name: url})
        Settings.from_env({name: url, "SPECD_ALLOW_PLAIN_HTTP": "true"})
        Settings.from_env({name: url.replace("http:", "https:")})
        Settings.from_env({name: "http://127.0.0.1:9/x"})


class ShopSettings(base_settings.Settings, prefix="SHOP_"):
    shop_name: str = setting("Name on receipts.", default="My shop")
    shop_dir: Path = setting("Directory of receipts.", default=Path("var/shop"))
    shop_key: str = setting("Key of the till.", default="", secret=True)


class TestSettingsOfAProject:
    """A project adds settings in a subclass, whose variables have a different prefix."""

    def test_variables_have_the_prefix_of_their_class(self) -> None:
        settings = ShopSettings.from_env({"SHOP_SHOP_NAME": "Corner", "SPECD_WORKERS": "3"})
        assert (settings.shop_name, settings.workers) == ("Corner", 3)
        assert ShopSettings.variable("shop_name") == "SHOP_SHOP_NAME"
        assert ShopSettings.variable("workers") == "SPECD_WORKERS"

    @pytest.mark.parametrize(
        ("name", "advice"),
        [("SHOP_SHOP_NAMES", "SHOP_SHOP_NAME"), ("SPECD_WORKER", "SPECD_WORKERS")],
    )
    def test_unknown_variable_of_either_prefix_is_rejected(self, name: str, advice: str) -> None:
        with pytest.raises(SettingsError, match=f"{name} is not a setting: did you mean {advice}."):
            ShopSettings.from_env({name: "x"})

    def test_settings_of_another_project_are_unknown(self) -> None:
        with pytest.raises(SettingsError, match="SPECD_CHAT_PAGE is not a setting"):
            ShopSettings.from_env({"SPECD_CHAT_PAGE": "on"})

    def test_secrets_come_from_files_and_are_never_shown(self, tmp_path: Path) -> None:
        (tmp_path / "key").write_text("abc-def\n")
        environ = {"SHOP_SHOP_KEY_FILE": str(tmp_path / "key")}
        settings = ShopSettings.from_env(environ)
        assert settings.shop_key == "abc-def"
        assert "abc-def" not in repr(settings) + repr(settings.describe(environ))

    def test_each_folder_is_derived_from_the_settings(self) -> None:
        folders = ShopSettings(data_dir=Path("data")).find_folders()
        assert folders == {
            "data_dir": Path("data"),
            "metrics_dir": Path("data/metrics"),
            "shop_dir": Path("var/shop"),
        }
