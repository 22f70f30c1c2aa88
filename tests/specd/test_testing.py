"""The pytest plugin: tests of a project call its service, each with an empty database."""

from pathlib import Path

from tests.support.stranger import Stranger

HANDLERS = """
from sqlalchemy import func, select
from specd import Context, Refusal
from greeter.models import Person


class Teapot(Refusal):
    status, code, sentence = 418, "teapot", "This is a teapot."


def get_greeting(ctx: Context, *, person: str) -> dict[str, object]:
    if person == "Bug":
        raise ValueError("a bug of the handler")
    if person == "Teapot":
        raise Teapot
    if person == "Wrong":
        return {"txt": "not as documented"}
    if person == "Url":
        return {"text": ctx.settings.public_url}
    return {"text": str(ctx.session.scalar(select(func.count()).select_from(Person)))}


def add_person(ctx: Context, *, person: str) -> tuple[None, int]:
    ctx.session.add(Person(name=f"{person} by {ctx.actor}"))
    return None, 204
"""
MODELS = """

class Person(Base):
    __tablename__ = "person"

    name: Mapped[str] = mapped_column(String(99), primary_key=True)
"""
POST = """    post:
      tags: [greetings]
      operationId: add_person
      security: [{key: []}]
      parameters:
        - {name: person, in: path, required: true, schema: {type: string}}
      responses:
        "204": {description: Added.}
        "401": {$ref: "#/paths/~1greetings~1{person}/get/responses/404"}
components:
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key, x-apikeyInfoFunc: greeter.auth.check_key}
"""
CONFTEST = """
import pytest


@pytest.fixture
def actor():
    return "Grace"


@pytest.fixture
def service_settings():
    return {"public_url": "https://greeter.example"}
"""
TESTS = """
import pytest


@pytest.mark.parametrize("time", range(2))
def test_database_is_empty(client, as_user, time):
    assert client.get("/greetings/Ada").json() == {"text": "0"}
    assert as_user.post("/greetings/Ada").status_code == 204
    assert client.get("/greetings/Ada").json() == {"text": "1"}


def test_credentials(client):
    assert client.post("/greetings/Ada").status_code == 401
    assert client.post("/greetings/Ada", headers={"X-Key": "bad"}).status_code == 401
    assert client.post("/greetings/Ada", headers={"X-Key": "good"}).status_code == 204


def test_settings(client):
    assert client.get("/greetings/Url").json() == {"text": "https://greeter.example"}


def test_other_settings(client, as_user):
    other = as_user.with_settings(public_url="https://other.example")
    assert other.get("/greetings/Url").json() == {"text": "https://other.example"}
    assert other.post("/greetings/Ada").status_code == 204
    assert other.get("/greetings/Grace").json() == {"text": "1"}
    assert client.get("/greetings/Grace").json() == {"text": "0"}
    assert client.get("/greetings/Url").json() == {"text": "https://greeter.example"}


def test_bug_is_raised(client):
    with pytest.raises(ValueError, match="a bug of the handler"):
        client.get("/greetings/Bug")


def test_log_of_a_bug_is_a_plain_traceback(client, capsys):
    with pytest.raises(ValueError):
        client.get("/greetings/Bug", headers={"X-Key": "the secret"})
    log = capsys.readouterr().out
    assert "ValueError: a bug of the handler" in log
    assert "the secret" not in log
    assert "locals" not in log


def test_answer_is_checked(client):
    with pytest.raises(AssertionError, match="200/body lacks the required property text"):
        client.get("/greetings/Wrong")


def test_error_is_checked(client):
    with pytest.raises(AssertionError, match="get_greeting .*: status 418 is undocumented"):
        client.get("/greetings/Teapot")
    assert client.get("/nothing").status_code == 404
"""


def test_fixtures_call_the_service(tmp_path: Path) -> None:
    shop = Stranger(tmp_path)
    shop.specd("new", "greeter")
    shop.specd("new", "other")
    service = shop.path / "greeter"
    document = (service / "openapi.yaml").read_text().replace("default:", '"404":')
    (service / "openapi.yaml").write_text(document + POST)
    (service / "auth.py").write_text(
        'def check_key(key: str) -> str | None:\n    return "Ada" if key == "good" else None\n'
    )
    (service / "handlers/greetings.py").write_text(HANDLERS)
    models = (service / "models.py").read_text()
    models = models.replace("import MetaData", "import MetaData, String")
    models = models.replace(
        "import DeclarativeBase", "import DeclarativeBase, Mapped, mapped_column"
    )
    (service / "models.py").write_text(models + MODELS)
    shop.specd("migrate", "--new", "people")
    (shop.path / "tests/greeter/conftest.py").write_text(CONFTEST)
    (shop.path / "tests/greeter/test_greetings.py").write_text(TESTS)
    (shop.path / "tests/test_nothing.py").write_text("def test_no_service(client):\n    pass\n")
    ran = shop.run("pytest", "-p", "specd.testing", "-p", "no:cacheprovider", "-W", "error")
    assert "10 passed, 1 error" in ran.stdout, ran.stdout
    assert "about none of the services greeter, other" in ran.stdout
