"""The security function of a scheme with tokens, in a complete service."""

import re
from typing import Any

import pytest

from specd._applications import build
from specd._project import Project
from specd.auth import Bearer, Tokens
from specd.errors import SettingsError
from tests.specd.sample import Sample

SECRET = "the secret of a sample service: 32 bytes"
DOCUMENT = """
openapi: 3.1.0
info: {title: Doors, version: "1"}
servers: [{url: /{name}}]
paths:
  /tokens:
    post:
      tags: [doors]
      operationId: create_token
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [name, password]
              properties: {name: {type: string}, password: {type: string}}
      responses: {"200": {description: The token.}, default: {description: Not OK.}}
  /doors:
    get:
      tags: [doors]
      operationId: find_door
      security: [{token: []}]
      responses: {"200": {description: The caller.}, default: {description: Not OK.}}
  /windows:
    get:
      tags: [doors]
      operationId: find_window
      security: [{named: []}, {key: []}]
      responses: {"200": {description: The caller.}, default: {description: Not OK.}}
  /keys:
    get:
      tags: [doors]
      operationId: find_key
      security: [{scoped: [read]}]
      responses: {"200": {description: The caller.}, default: {description: Not OK.}}
components:
  securitySchemes:
    token:
      {type: http, scheme: bearer, bearerFormat: JWT, x-bearerInfoFunc: "{name}.auth.check_token"}
    named: {type: http, scheme: bearer, x-bearerInfoFunc: "{name}.auth.check_named"}
    key: {type: http, scheme: bearer, x-bearerInfoFunc: "{name}.auth.check_key"}
    scoped:
      type: oauth2
      flows: {clientCredentials: {tokenUrl: /t, scopes: {read: Read}}}
      x-tokenInfoFunc: "{name}.auth.check_token"
    unused: {type: http, scheme: bearer, x-bearerInfoFunc: no.such.function}
"""
AUTH = """
from specd import Settings, setting
from specd.auth import Bearer, Passwords, Tokens

PASSWORDS = Passwords(time_cost=1, memory_kib=8, lanes=1)
HASHES = {"ada": PASSWORDS.hash("to be"), "eve": PASSWORDS.hash("or not")}


class AppSettings(Settings, prefix="APP_"):
    token_secret: str = setting("The secret of tokens.", default="", secret=True)


check_token = Bearer(lambda settings: Tokens(settings.token_secret, audience="door"))
check_named = Bearer(check_token.tokens, lambda ctx, claims: {"ada": {"id": 1}}.get(claims["sub"]))


def check_key(key):
    return key == "a key"
"""
HANDLERS = """
from specd.errors import Unauthenticated
from {name}.auth import HASHES, PASSWORDS, check_token


async def create_token(ctx, *, body):
    name = body["name"]
    is_right = await PASSWORDS.run(PASSWORDS.verify, body["password"], HASHES.get(name))
    if not is_right:
        raise Unauthenticated()
    tokens = check_token.tokens(ctx.settings)
    return tokens.sign({"sub": name, "scope": "read" if name == "ada" else ""},
                       lifetime_s=60, now=ctx.now)


def find_door(ctx):
    return {"actor": ctx.actor, "actor_id": ctx.actor_id}


find_window = find_door
find_key = find_door
"""


@pytest.fixture
def doors(sample: Sample) -> Sample:
    sample.write("{name}/__init__.py", "")
    sample.write("{name}/openapi.yaml", DOCUMENT)
    sample.write("{name}/auth.py", AUTH)
    sample.write("{name}/handlers/__init__.py", "")
    sample.write("{name}/handlers/doors.py", HANDLERS)
    sample.write(
        "wsgi.py",
        """
        from specd import Project

        project = Project("{name}", settings="{name}.auth:AppSettings")
        __getattr__ = project.application
        """,
    )
    return sample


def token_of(client: Any, doors: Sample, name: str, password: str) -> str:
    body = {"name": name, "password": password}
    response = client.post(f"/{doors.name}/tokens", json=body)
    assert response.status_code == 200, response.text
    token = response.text.strip('"')
    assert re.fullmatch(r"[\w-]+\.[\w-]+\.[\w-]+", token)
    return token


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_token_admits_its_owner(doors: Sample) -> None:
    with doors.client(APP_TOKEN_SECRET=SECRET) as client:
        token = token_of(client, doors, "ada", "to be")
        response = client.get(f"/{doors.name}/doors", headers=bearer(token))
        assert response.status_code == 200
        answer = response.json()
        assert answer["actor_id"] == "ada"
        assert answer["actor"].items() >= {"sub": "ada", "aud": "door"}.items()


def test_other_credentials_get_401(doors: Sample) -> None:
    with doors.client(APP_TOKEN_SECRET=SECRET) as client:
        token = token_of(client, doors, "ada", "to be")
        for headers in ({}, bearer(""), bearer("x"), bearer(token[:-4]), bearer("x" * 9000)):
            response = client.get(f"/{doors.name}/doors", headers=headers)
            assert response.status_code == 401
            assert response.headers["WWW-Authenticate"] == "Bearer"
        for body in ({"name": "ada", "password": "x"}, {"name": "bob", "password": "to be"}):
            assert client.post(f"/{doors.name}/tokens", json=body).status_code == 401


def test_loaded_row_is_the_actor_and_none_is_rejected(doors: Sample) -> None:
    with doors.client(APP_TOKEN_SECRET=SECRET) as client:
        ada, eve = (token_of(client, doors, *who) for who in (("ada", "to be"), ("eve", "or not")))
        response = client.get(f"/{doors.name}/windows", headers=bearer(ada))
        assert response.json()["actor"] == {"id": 1}
        assert client.get(f"/{doors.name}/windows", headers=bearer(eve)).status_code == 401


def test_next_alternative_is_tried(doors: Sample) -> None:
    with doors.client(APP_TOKEN_SECRET=SECRET) as client:
        for key, status in (("a key", 200), ("no key", 401)):
            response = client.get(f"/{doors.name}/windows", headers=bearer(key))
            assert response.status_code == status


def test_scopes_of_the_claims_are_checked(doors: Sample) -> None:
    with doors.client(APP_TOKEN_SECRET=SECRET) as client:
        ada, eve = (token_of(client, doors, *who) for who in (("ada", "to be"), ("eve", "or not")))
        assert client.get(f"/{doors.name}/keys", headers=bearer(ada)).status_code == 200
        assert client.get(f"/{doors.name}/keys", headers=bearer(eve)).status_code == 403


@pytest.mark.parametrize(("secret", "length"), [("", 0), ("x" * 31, 31)])
def test_short_secret_stops_the_start(
    doors: Sample, monkeypatch: pytest.MonkeyPatch, secret: str, length: int
) -> None:
    project: Project = doors.project()
    monkeypatch.setenv("SPECD_DATA_DIR", str(doors.root / "var"))
    monkeypatch.setenv("APP_TOKEN_SECRET", secret)
    with pytest.raises(SettingsError) as raised:
        build(project, project.services)
    assert str(raised.value) == (
        f"HS256 requires a secret of at least 32 bytes, and it has {length}."
    )
    monkeypatch.setenv("APP_TOKEN_SECRET", "x" * 32)
    assert build(project, project.services)


def test_load_must_be_a_plain_function() -> None:
    async def load(ctx: Any, claims: Any) -> None: ...

    def opened(settings: Any) -> Tokens:
        return Tokens(SECRET)

    with pytest.raises(TypeError, match="plain function"):
        Bearer(opened, load)
