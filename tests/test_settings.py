"""Settings: what the environment may say, and what one sentence answers when it may not."""

from pathlib import Path

import pytest

from settings import Settings, SettingsError


def test_an_empty_environment_gives_the_documented_defaults() -> None:
    settings = Settings.from_env({"PATH": "/bin"})
    assert settings == Settings()
    assert settings.payment_database_url == "sqlite:///var/payment.db"
    assert settings.chat_database_url == "sqlite:///var/chat.db"
    assert settings.public_url == "http://127.0.0.1:8080"
    assert settings.metrics_dir == Path("var/metrics")
    assert settings.invoice_lifetime_s == 1800
    assert settings.invoice_monitoring_s == 86_400
    assert settings.rate_limits is True


def test_an_empty_variable_counts_as_unset() -> None:
    assert Settings.from_env({"SPECD_WORKERS": "", "SPECD_BIND": "  "}) == Settings()


def test_what_depends_on_another_setting_follows_it() -> None:
    settings = Settings.from_env({"SPECD_DATA_DIR": "/data", "SPECD_BIND": "0.0.0.0:9000"})
    assert settings.payment_database_url == "sqlite:////data/payment.db"
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
            "SPECD_PAYMENT_DATABASE_URL",
            "postgres://u:p@db/specd",
            "payment_database_url",
            "postgresql+psycopg://u:p@db/specd",
        ),
        (
            "SPECD_CHAIN_RPC_URLS",
            "31337=http://127.0.0.1:8545, https://rpc.test/v3/key,",
            "chain_rpc_urls",
            ("31337=http://127.0.0.1:8545", "https://rpc.test/v3/key"),
        ),
    ],
)
def test_parses(variable: str, text: str, field: str, value: object) -> None:
    assert getattr(Settings.from_env({variable: text}), field) == value


@pytest.mark.parametrize(
    ("variable", "text", "sentence"),
    [
        ("SPECD_WORKRES", "2", "SPECD_WORKRES is not a setting: did you mean SPECD_WORKERS."),
        ("SPECD_WORKERS", "0", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_WORKERS", "\uff12", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_WORKERS", "1e3", "SPECD_WORKERS must be a whole number from 1 to 128."),
        ("SPECD_CHAIN_POLL_S", "nan", "SPECD_CHAIN_POLL_S must be a number of seconds from 0.05"),
        ("SPECD_DEVELOPMENT", "maybe", "SPECD_DEVELOPMENT must be true or false."),
        ("SPECD_LOG_LEVEL", "loud", "SPECD_LOG_LEVEL must be one of debug, info, warning, error."),
        ("SPECD_BIND", "8080", "SPECD_BIND must be HOST:PORT, for example 127.0.0.1:8080."),
        ("SPECD_BIND", "localhost:70000", "SPECD_BIND must be HOST:PORT"),
        ("SPECD_PUBLIC_URL", "ftp://x", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PUBLIC_URL", "http://u:p@x", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PUBLIC_URL", "http://x:99999", "SPECD_PUBLIC_URL must be an http or https URL"),
        ("SPECD_PAYMENT_DATABASE_URL", "sqlite://", "SPECD_PAYMENT_DATABASE_URL must be sqlite:/"),
        ("SPECD_PAYMENT_DATABASE_URL", "mysql://u:pw9@h/d", "SPECD_PAYMENT_DATABASE_URL must be"),
        ("SPECD_CHAT_DATABASE_URL", "postgres://u:pw9@h:x/d", "SPECD_CHAT_DATABASE_URL must be"),
        ("SPECD_CHAIN_RPC_URLS", "http://a,ws://pw9.b", "SPECD_CHAIN_RPC_URLS must be a comma-sep"),
    ],
)
def test_refuses_in_one_sentence_without_repeating_the_value(
    variable: str, text: str, sentence: str
) -> None:
    with pytest.raises(SettingsError) as raised:
        Settings.from_env({variable: text})
    told = str(raised.value)
    assert told.startswith(sentence)
    assert told.endswith(".")
    assert "\n" not in told
    assert "pw9" not in told


def test_the_variables_of_the_test_suite_are_left_alone() -> None:
    assert Settings.from_env({"SPECD_TEST_POSTGRES_URL": "postgresql://x"}) == Settings()


def test_describe_masks_secrets_and_tells_the_origin() -> None:
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


def test_a_printed_settings_object_holds_no_secret() -> None:
    env = {
        "SPECD_CHAT_DATABASE_URL": "postgresql://u:hush@h/d",
        "SPECD_CHAIN_RPC_URLS": "https://rpc.test/hush",
    }
    assert "hush" not in repr(Settings.from_env(env))
