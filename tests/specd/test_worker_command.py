"""`specd worker` runs the functions that a project marks with `every`, and deletes old rows."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

TIMEOUT_S = 60.0
FILES = {
    "wsgi.py": 'from specd import Project\n\nproject = Project("shop")\n'
    "__getattr__ = project.application\n",
    "shop/__init__.py": "",
    "shop/openapi.yaml": "openapi: 3.0.3\ninfo: {title: Shop, version: '1'}\npaths: {}\n",
    "shop/models.py": """
from sqlalchemy import MetaData
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from specd.db import NAMING, RowNumber, UtcMs


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)


class Cart(Base):
    __tablename__ = "cart"
    id: Mapped[int] = mapped_column(RowNumber, primary_key=True)
    at: Mapped[int] = mapped_column(UtcMs, index=True)
""",
    "shop/workers.py": """
from datetime import UTC, datetime
from sqlalchemy import insert
from sqlalchemy.orm import Session
from shop.models import Cart
from specd.workers import every


@every(seconds=0.1)
def add_cart(session: Session) -> None:
    session.execute(insert(Cart).values(at=datetime.now(UTC)))
""",
    "shop/retention.py": """
from shop.models import Cart
from specd.db import older_than

retention = [older_than(Cart.at, "carts", days=1)]
""",
    "shop/migrations/0001_cart.py": """
import sqlalchemy as sa
from alembic import op

revision, down_revision, oldest = "0001", None, "0001"
branch_labels = depends_on = None


def upgrade() -> None:
    op.create_table(
        "cart",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
    )
    op.execute("INSERT INTO cart (id, at) VALUES (1, 0)")
""",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with a migrated database, whose only cart dates from 1970."""
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    done = subprocess.run(
        command("migrate"), cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return tmp_path


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "specd._cli.main", *words]


def environment(**more: str) -> dict[str, str]:
    names = ("PATH", "HOME", "LANG")
    return {**{name: os.environ[name] for name in names if name in os.environ}, **more}


def find_carts(folder: Path) -> list[int]:
    with closing(sqlite3.connect(folder / "var/shop.db")) as connection:
        return [number for (number,) in connection.execute("SELECT id FROM cart ORDER BY id")]


@contextmanager
def running(folder: Path, *words: str, **more: str) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        command("worker", *words),
        cwd=folder,
        env=environment(**more),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def wait_for_carts(process: "subprocess.Popen[str]", folder: Path, *, old: bool) -> None:
    """Wait until workers have added two carts, and the cart of 1970 exists or is deleted."""
    ends_at = time.monotonic() + TIMEOUT_S
    while time.monotonic() < ends_at and process.poll() is None:
        carts = find_carts(folder)
        if len(carts) > 2 and (1 in carts) is old:
            return
        time.sleep(0.1)
    process.kill()
    pytest.fail(f"the workers did not work: {process.communicate()[0]}")


def test_worker_runs_functions_and_deletes_old_rows_until_a_signal(folder: Path) -> None:
    assert find_carts(folder) == [1]
    with running(folder) as process:
        wait_for_carts(process, folder, old=False)
        process.send_signal(signal.SIGTERM)
        assert process.wait(TIMEOUT_S) == 0


def test_named_worker_runs_alone(folder: Path) -> None:
    with running(folder, "add_cart") as process:
        wait_for_carts(process, folder, old=True)


def test_unknown_worker_is_rejected_with_all_names(folder: Path) -> None:
    done = subprocess.run(
        command("worker", "add_cats"),
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert "'add_cart', 'shop_retention'" in done.stderr


def test_operator_can_change_the_period(folder: Path) -> None:
    decades = str(10 * 365 * 86_400)
    with sqlite3.connect(folder / "var/shop.db") as connection:
        connection.execute("UPDATE cart SET at = ?", [int((time.time() - 30 * 86_400) * 1000)])
    connection.close()
    with running(folder, SPECD_CARTS_RETENTION_S=decades) as process:
        wait_for_carts(process, folder, old=True)
        time.sleep(1.0)
        assert 1 in find_carts(folder)


def test_workers_of_a_service_without_a_database_are_rejected(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("wsgi.py", "shop/__init__.py", "shop/openapi.yaml"):
        (tmp_path / name).write_text(FILES[name])
    (tmp_path / "shop/workers.py").write_text(
        "from specd.workers import every\n\n\n"
        "@every(seconds=60)\ndef send_mail(session):\n    pass\n"
    )
    done = subprocess.run(
        command("worker"), cwd=tmp_path, env=environment(), capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == (
        "Error: The worker send_mail needs a database, and the service shop has none: it has"
        " neither tables (shop.models) nor migrations.\n"
    )


def test_migrations_of_a_project_without_databases_are_not_written(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name in ("wsgi.py", "shop/__init__.py", "shop/openapi.yaml"):
        (tmp_path / name).write_text(FILES[name])
    for words in (("migrate",), ("migrate", "--new", "carts"), ("migrate", "--only", "shop")):
        done = subprocess.run(
            command(*words), cwd=tmp_path, env=environment(), capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "There is no database to migrate.\n"), words
