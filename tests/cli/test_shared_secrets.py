"""A machine whose secret differs from that of the other machines reports it and starts nothing."""

import pytest

from specd._cli import serve, worker
from tests.cli.runner import Specd

SERVICES = ("payment", "chat")


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The processes that would have been started."""
    started: list[str] = []
    monkeypatch.setattr(serve.wsgiapp, "run", lambda **_: started.append("serve"))
    monkeypatch.setattr(worker, "run", lambda *_: started.append("worker"))
    return started


@pytest.fixture(params=["sqlite", "postgres"])
def machine(request: pytest.FixtureRequest, specd: Specd, monkeypatch: pytest.MonkeyPatch) -> Specd:
    payment_url, (chat_url, _) = (
        request.getfixturevalue(f"{request.param}_url"),
        request.getfixturevalue(f"chat_{request.param}"),
    )
    monkeypatch.setenv("SPECD_PAYMENT_DATABASE_URL", payment_url)
    monkeypatch.setenv("SPECD_CHAT_DATABASE_URL", chat_url)
    return specd


def set_secret(
    monkeypatch: pytest.MonkeyPatch, service: str, present: str, previous: str = ""
) -> None:
    monkeypatch.setenv(f"SPECD_{service.upper()}_SECRET", present * 32)
    monkeypatch.setenv(f"SPECD_{service.upper()}_SECRET_PREVIOUS", previous * 32)


@pytest.mark.parametrize("command", ["serve", "worker"])
@pytest.mark.parametrize("service", SERVICES)
def test_other_machine_must_have_the_same_secret(
    machine: Specd, service: str, command: str, started: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for other in SERVICES:
        set_secret(monkeypatch, other, "s")
    set_secret(monkeypatch, service, "a")
    machine(command)
    machine(command)
    assert started == [command] * 2
    set_secret(monkeypatch, service, "b")
    message = machine.refusal(command, "--only", service)
    assert f"another SPECD_{service.upper()}_SECRET" in message
    assert "a" * 32 not in message
    assert "b" * 32 not in message
    assert machine.refusal(command) == message
    (unconcerned,) = {*SERVICES} - {service}
    machine(command, "--only", unconcerned)
    assert started == [command] * 3


@pytest.mark.parametrize("service", SERVICES)
def test_secret_can_be_replaced_deliberately(
    machine: Specd, service: str, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    set_secret(monkeypatch, service, "a")
    machine("worker", "--only", service)
    set_secret(monkeypatch, service, "b", previous="a")
    machine("worker", "--only", service)
    machine.json(service, "reseal")
    set_secret(monkeypatch, service, "b")
    machine("worker", "--only", service)
    assert started == ["worker"] * 3
    set_secret(monkeypatch, service, "a")
    machine.refusal("worker", "--only", service)
    machine.refusal(service, "reseal")
    machine.json(service, "reseal", "--without-previous")
    machine("worker", "--only", service)
    assert started == ["worker"] * 4
