"""Options of services in `wsgi.py`: CORS, middlewares, policies of pages, names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from textwrap import dedent

import httpx
import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from specd import _logs as logs
from specd._applications import build
from specd._cli.check import _check_handlers
from specd._cli.routes import routes
from specd._composition import service_from_settings
from specd._engine.openapi.mistakes import Mistakes
from specd._engine.serving.app import build_app
from specd._pages.security import POLICY, policy_with
from specd._project import Project
from specd._settings import load_settings
from specd.errors import SettingsError
from tests.specd.sample import Sample, Transport

DOCUMENT = """
    openapi: 3.1.0
    info: {title: Sample, version: 1.0.0}
    servers: [{url: /things/v1}]
    paths:
      /things:
        get:
          operationId: ListThings
          responses:
            "200": {description: All things.}
"""
HANDLERS = """
    def ListThings(ctx):
        return {"name": "capitals"}

    """
SNAKE = """
    def list_things(ctx):
        return {"name": "snake"}
    """
PAGES = """
    def install_for(app, service):
        app.get("/own")(lambda: "<p>Own")
        app.get("/strict")(strict)

    def strict():
        return "<p>Strict", 200, {"Content-Security-Policy": "default-src 'none'"}
"""
WSGI = """
    from specd import Cors, Project, Service

    project = Project({project})
    __getattr__ = project.application
"""
ORIGIN = {"Origin": "https://app.example"}


@contextmanager
def client(sample: Sample, project: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """Yield a client of the application of a project."""
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)
    sample.write("wsgi.py", WSGI.replace("{project}", project))
    monkeypatch.setenv("SPECD_DATA_DIR", str(sample.root / "var"))
    app = sample.project().application("app")
    plain = {"Accept-Encoding": "identity"}
    address = "http://sample.test"
    with httpx.Client(transport=Transport(app), base_url=address, headers=plain) as opened:
        yield opened


@pytest.fixture
def things(sample: Sample) -> Sample:
    sample.write("{name}/openapi.yaml", DOCUMENT)
    sample.write("{name}/handlers.py", HANDLERS)
    return sample


def test_cors_allows_origins(things: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    project = 'Service("{name}", cors=Cors(["https://app.example"]))'
    with client(things, project, monkeypatch) as http:
        for path in ("/things/v1/things", "/things/v1/nothing"):
            answer = http.get(path, headers=ORIGIN)
            assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN["Origin"]
        other = http.get("/things/v1/things", headers={"Origin": "https://other.example"})
        assert "Access-Control-Allow-Origin" not in other.headers


def test_operators_add_origins(things: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECD_ALLOWED_ORIGINS", "app://things, https://other.example")
    for project in ('"{name}"', 'Service("{name}", cors=Cors(["https://app.example"]))'):
        things.write("wsgi.py", "")
        with client(things, project, monkeypatch) as http:
            for origin in ("app://things", "https://other.example"):
                answer = http.get("/things/v1/things", headers={"Origin": origin})
                assert answer.headers["Access-Control-Allow-Origin"] == origin
            is_allowed = "Cors" in project
            answer = http.get("/things/v1/things", headers=ORIGIN)
            assert ("Access-Control-Allow-Origin" in answer.headers) is is_allowed


def test_middlewares_wrap_the_application(things: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    project = '"{name}", middlewares=["tests.specd.engine.middlewares:Mark"]'
    with client(things, project, monkeypatch) as http:
        for path in ("/things/v1/things", "/docs"):
            assert http.get(path).headers["X-Mark"] == "mark"


def test_reference_is_served_by_each_application(
    things: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(things, '"{name}"', monkeypatch) as http:
        assert http.get("/docs").status_code == 200
        reference = http.get(f"/docs/{things.name}")
        assert (reference.status_code, "/things/v1/openapi" in reference.text) == (200, True)


class TestPolicies:
    def test_pages_of_the_project_have_other_directives(
        self, things: Sample, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        things.write("{name}/pages.py", PAGES)
        project = """Service("{name}", csp={"script-src": "'self' https://cdn.example"})"""
        with client(things, project, monkeypatch) as http:
            policies = {
                path: http.get(path).headers["Content-Security-Policy"]
                for path in ("/own", "/strict", "/docs", "/nothing")
            }
        assert policies["/own"] == POLICY.replace(
            "script-src 'self'", "script-src 'self' https://cdn.example"
        )
        assert policies["/strict"] == "default-src 'none'"
        assert policies["/docs"] == policies["/nothing"] == POLICY

    def test_default_is_strict(self, things: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
        things.write("{name}/pages.py", PAGES)
        with client(things, '"{name}"', monkeypatch) as http:
            assert http.get("/own").headers["Content-Security-Policy"] == POLICY

    def test_directives_are_replaced_and_added(self) -> None:
        policy = policy_with({"img-src": "'self' data:", "font-src": "*", "sandbox": ""})
        images = POLICY.replace("img-src 'self'", "img-src 'self' data:")
        assert policy == f"{images}; font-src *; sandbox"
        assert policy_with({}) == POLICY

    @pytest.mark.parametrize(
        "csp",
        [{"img-src": "*; script-src *"}, {"img-src": "*\n"}, {"img src": "*"}, {"img-src": "a, b"}],
    )
    def test_values_with_more_than_a_directive_are_rejected(self, csp: dict[str, str]) -> None:
        with pytest.raises(ValueError, match="is no directive"):
            policy_with(csp)


class TestSnakeCase:
    @pytest.mark.parametrize(("option", "name"), [("", "capitals"), (", snake_case=True", "snake")])
    def test_names_the_functions(
        self, things: Sample, monkeypatch: pytest.MonkeyPatch, option: str, name: str
    ) -> None:
        things.write("{name}/handlers.py", SNAKE if option else HANDLERS)
        with client(things, f'Service("{{name}}"{option})', monkeypatch) as http:
            assert http.get("/things/v1/things").json() == {"name": name}
        function = "list_things" if option else "ListThings"
        listed = CliRunner().invoke(routes).output
        assert f"{things.name}.handlers.{function}" in listed
        assert "ListThings" in listed


WIRING = """
    from specd import RateLimiter, service_from_settings

    def compose(settings):
        limiter = RateLimiter.for_service(
            "{name}",
            settings,
            limits={"address": (2, 60.0)},
            counted=lambda ctx: [("address", ctx.client)],
            find_secret=lambda: b"s" * 32,
        )
        return service_from_settings(settings, "{name}", rate_limit=limiter)
"""


def test_service_counts_requests(things: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    things.write("{name}/wiring.py", WIRING)
    with client(things, '"{name}"', monkeypatch) as http:
        answers = [http.get("/things/v1/things") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert [answer.headers["RateLimit"].partition(";t")[0] for answer in answers] == [
        '"default";r=1', '"default";r=0', '"default";r=0'
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("has_limiter", "is_on", "reason"),
    [
        (True, "true", None),
        (True, "false", "SPECD_RATE_LIMITS is false"),
        (False, "true", "no service has a RateLimiter"),
    ],
)
def test_unused_store_of_limits_is_reported(
    things: Sample, monkeypatch: pytest.MonkeyPatch, has_limiter: bool, is_on: str, reason: str
) -> None:
    if has_limiter:
        things.write("{name}/wiring.py", WIRING)
    monkeypatch.setenv("SPECD_LIMITS_URL", "redis://127.0.0.1:1/0")
    monkeypatch.setenv("SPECD_RATE_LIMITS", is_on)
    with capture_logs() as lines, client(things, '"{name}"', monkeypatch):
        found = [line for line in lines if line["event"] == "setting without effect"]
    assert [(line["variable"], line["reason"]) for line in found] == (
        [] if reason is None else [("SPECD_LIMITS_URL", reason)]
    )


SECURED = """
    openapi: 3.1.0
    info: {title: Sample, version: 1.0.0}
    servers: [{url: /things/v1}]
    paths:
      /things:
        get: {operationId: list_things, responses: {"200": {description: All things.}}}
    components:
      securitySchemes:
        key: {type: apiKey, in: header, name: X-Key, x-apikeyInfoFunc: things.auth.check_key}
    """
OPTIONAL = 'Service("things", optional_security=("list_things",))'


def test_optional_security_identifies_the_caller(
    sample: Sample, monkeypatch: pytest.MonkeyPatch
) -> None:
    sample.write("things/openapi.yaml", SECURED)
    sample.write("things/handlers.py", 'def list_things(ctx):\n    return {"name": ctx.actor}\n')
    sample.write(
        "things/auth.py", "def check_key(key):\n    return key if key == 'Ada' else None\n"
    )
    with client(sample, OPTIONAL, monkeypatch) as calls:
        for headers, name in (({}, None), ({"X-Key": "Ada"}, "Ada")):
            assert calls.get("/things/v1/things", headers=headers).json() == {"name": name}
        assert calls.get("/things/v1/things", headers={"X-Key": "Eve"}).status_code == 401


class TestOptionalSecurityOfOptionalDocument:
    """`specd check` and the start accept the same names, whether the document is served or not."""

    EXTRA = """
        openapi: 3.1.0
        info: {title: More, version: 1.0.0}
        servers: [{url: /things/v1}]
        paths:
          /extras:
            get: {responses: {"200": {description: All extras.}}}
        """
    SCHEMES = SECURED[SECURED.index("    components:") :].replace("things.auth", "{name}.auth")

    def project(self, sample: Sample, *names: str, main: str, extra: str) -> Project:
        sample.write("{name}/openapi.yaml", main)
        sample.write("{name}/extra.yaml", extra)
        sample.write("{name}/auth.py", "def check_key(key):\n    return key\n")
        functions = ("list_things", "get_extras")
        handlers = [f"def {function}(ctx):\n    return {{}}\n" for function in functions]
        sample.write("{name}/handlers.py", "\n\n".join(handlers))
        documents = '("{name}/openapi.yaml", "{name}/extra.yaml")'
        service = f'Service("{{name}}", {documents}, ("extra",), optional_security={names!r})'
        sample.write("wsgi.py", WSGI.replace("{project}", service))
        return sample.project()

    def problems(self, project: Project) -> list[str]:
        """Return the mistakes that `specd check` reports, then those of both starts."""
        settings = load_settings()
        found = [str(each.message) for each in _check_handlers()]
        for chosen in ([], ["extra"]):
            try:
                build_app([service_from_settings(settings, project.names[0], chosen=chosen)])
            except Mistakes as error:
                found += [each.message for each in error.found]
        return found

    def test_is_accepted_without_the_document(self, sample: Sample) -> None:
        main = SECURED.replace("things.auth", "{name}.auth")
        extra = dedent(self.EXTRA) + dedent(self.SCHEMES)
        project = self.project(sample, "list_things", "get_extras", main=main, extra=extra)
        assert self.problems(project) == []

    def test_unknown_name_is_refused_everywhere(self, sample: Sample) -> None:
        main = SECURED.replace("things.auth", "{name}.auth")
        extra = dedent(self.EXTRA) + dedent(self.SCHEMES)
        project = self.project(sample, "list_extras", main=main, extra=extra)
        found = self.problems(project)
        assert len(found) == 3
        assert all("no operation has this name" in each for each in found)

    def test_schemes_of_another_document_do_not_count(self, sample: Sample) -> None:
        main = SECURED[: SECURED.index("    components:")]
        extra = dedent(self.EXTRA) + dedent(self.SCHEMES)
        project = self.project(sample, "list_things", main=main, extra=extra)
        found = self.problems(project)
        assert len(found) == 3
        assert all("the document has no security schemes" in each for each in found)


STARTED = """
    from specd.errors import SettingsError

    class Check:
        def __specd_start__(self, settings):
            raise SettingsError("no secret")

        def __call__(self, key):
            return key

    check_key = Check()
"""


def test_optional_security_is_started(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.write("{name}/openapi.yaml", SECURED.replace("things.auth", "{name}.auth"))
    sample.write("{name}/handlers.py", "def list_things(ctx):\n    return {}\n")
    sample.write("{name}/auth.py", STARTED)
    sample.write("wsgi.py", WSGI.replace("{project}", OPTIONAL.replace("things", "{name}", 1)))
    monkeypatch.setenv("SPECD_DATA_DIR", str(sample.root / "var"))
    project = sample.project()
    with pytest.raises(SettingsError, match="no secret"):
        build(project, project.services)
