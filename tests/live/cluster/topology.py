"""The cluster of docs/deploy/cluster on loopback addresses: HAProxy, two machines of specd,
PgBouncer, three nodes of Patroni and etcd.

`10.0.0.N` of the files is `127.0.0.N` here.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import psycopg

from tests.live.cluster import haproxy
from tests.live.running_server import ROOT
from tests.support.chat import people
from wsgi import project

NODES = {"pg1": "127.0.0.21", "pg2": "127.0.0.22", "pg3": "127.0.0.23"}
MACHINES = {"a": "127.0.0.11", "b": "127.0.0.12"}
PROXY = "127.0.0.10"
HTTPS_PORT, HTTP_PORT, PRIMARY_PORT, POOLER_PORT = 8443, 8081, 5000, 6432
ETCD = "127.0.0.31"
PASSWORD = "a password of the rehearsal"
SECRET = people.SECRET.decode()
READY_S = 120.0
DISK_MIB = 640
"""The disk of a node if disks are small."""
GROUPS = {"pg1": 6421, "pg2": 6422, "pg3": 6423}
"""The group of the nodes' processes, by which the firewall recognizes their packets."""
PROGRAMS = ("haproxy", "pgbouncer", "patroni", "etcd")
BIN = Path("/usr/lib/postgresql")
FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")


def missing_programs() -> list[str]:
    """Return the programs of the cluster that are not installed."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin"
    found = [name for name in PROGRAMS if shutil.which(name, path=path) is None]
    return found if any(BIN.glob("*/bin/initdb")) else [*found, "postgresql"]


class Program:
    """A process with its descendants in a separate session. Its output goes to a file."""

    def __init__(
        self,
        command: list[str],
        log: Path,
        *,
        env: Mapping[str, str] | None = None,
        as_postgres: bool = False,
        group: int | str = "postgres",
        mark: str = "",
    ) -> None:
        """`mark` is in the command lines of descendants that do not stay its children, such as
        PostgreSQL under Patroni.
        """
        if as_postgres and os.geteuid() == 0:  # PostgreSQL and PgBouncer refuse to run as root
            lent = ["setpriv", "--reuid=postgres", f"--regid={group}", "--clear-groups"]
            command = [*lent, *command]
        self._command, self._env, self.log, self._mark = command, env, log, mark
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, also repeatedly."""
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=ROOT,
                env={**os.environ, **(self._env or {})},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def pids(self) -> list[int]:
        """Return its process and all descendants, also in other process groups."""
        if self._process is None:
            return []
        found, children = [self._process.pid, *_marked(self._mark)], _children()
        for pid in found:
            found += (child for child in children.get(pid, []) if child not in found)
        return found

    def send(self, number: int) -> None:
        """Send a signal to all of its processes together."""
        for pid in self.pids():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """SIGKILL all of its processes."""
        self.send(signal.SIGKILL)
        if self._process is not None:
            self._process.wait()

    def stop(self, seconds: float = 20.0) -> int:
        """SIGTERM, and SIGKILL after some seconds. Return the status."""
        if self._process is None:
            return 0
        pids = self.pids()
        self._process.terminate()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return self._process.wait()


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            parent = int(path.read_text().rpartition(")")[2].split()[1])
            found.setdefault(parent, []).append(int(path.parent.name))
    return found


def _marked(mark: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline") if mark else ():
        with suppress(OSError):
            if mark.encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


def until(is_so: Callable[[], Any], what: str, seconds: float = READY_S) -> Any:
    """Return the first true result. Raise TimeoutError."""
    ends_at = time.monotonic() + seconds
    while not (answer := is_so()):
        if time.monotonic() > ends_at:
            raise TimeoutError(f"{what} has taken more than {seconds:.0f} s")
        time.sleep(0.05)
    return answer


class Cluster:
    """All programs by name, from `start` to `stop`."""

    def __init__(
        self,
        folder: Path,
        *,
        is_pooled: bool,
        settings: Mapping[str, str] = {},
        clocks: Mapping[str, str] = {},
        has_small_disks: bool = False,
    ) -> None:
        """`is_pooled`: machines reach the database through PgBouncer.

        `clocks`: the offset of a machine's clock, in the format of libfaketime. `has_small_disks`:
        each node has a disk of `DISK_MIB`.
        """
        self.folder, self.is_pooled = folder, is_pooled
        self._settings, self._clocks = dict(settings), clocks
        self._has_small_disks = has_small_disks
        self.programs: dict[str, Program] = {}
        self.url = f"https://{PROXY}:{HTTPS_PORT}"
        self.certificate = folder / "specd.pem"

    # --- the whole ----------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything. Raise TimeoutError, or OSError if another rehearsal runs."""
        for address, port in ((ETCD, 2379), (PROXY, PRIMARY_PORT), (PROXY, POOLER_PORT)):
            with socket.create_server((address, port)):
                pass
        self.folder.mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        self._start_database()
        self._migrate()
        for name in MACHINES:
            self.start_machine(name)
        for name in MACHINES:
            self.until_ready(name)

    def _start_database(self) -> None:
        client, peer = f"http://{ETCD}:2379", f"http://{ETCD}:2380"
        self._run(
            "etcd",
            ["etcd", "--data-dir", str(self.folder / "etcd"), "--listen-client-urls", client,
             "--advertise-client-urls", client, "--listen-peer-urls", peer,
             "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"],
        )  # fmt: skip
        for name in NODES:
            self._start_node(name)
        self._start_haproxy()
        until(self.leader, "the election of a primary")
        until(self.takes_writes, "the way to the primary")
        with self.superuser() as connection:
            connection.execute(f"CREATE ROLE specd LOGIN PASSWORD '{PASSWORD}'".encode())
            for service in project.names:
                connection.execute(f"CREATE DATABASE specd_{service} OWNER specd".encode())
        self._start_pgbouncer()
        until(self.has_synchronous, "the synchronous replica")

    def _start_node(self, name: str) -> None:
        folder = self.folder / name
        folder.mkdir(mode=0o700)
        if self._has_small_disks:
            size = f"size={DISK_MIB}m,mode=700"
            subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", folder], check=True)
        binaries = sorted(BIN.glob("*/bin/initdb"))[-1].parent
        text = self._read(
            "patroni.yml",
            ("name: pg1", f"name: {name}"),
            ("127.0.0.21", NODES[name]),
            ("/var/lib/postgresql/15/specd", str(folder / "data")),
            ("/usr/lib/postgresql/15/bin", str(binaries)),
            ("directories: /run/postgresql", f"directories: {folder}"),
            ("  bin_dir", "  use_unix_socket: true\n  bin_dir"),
            ("local all postgres peer", "local all all trust"),
        )
        (folder / "patroni.yml").write_text(text)
        if os.geteuid() == 0:
            for path in (folder, folder / "patroni.yml"):
                shutil.chown(path, "postgres")
        home = {"HOME": str(folder)}
        command = ["patroni", str(folder / "patroni.yml")]
        mark = str(folder / "data")
        self._run(name, command, env=home, as_postgres=True, group=GROUPS[name], mark=mark)

    def _start_haproxy(self) -> None:
        names = ("DNS:pay.example", "DNS:acme.example", f"IP:{PROXY}")
        haproxy.write_certificate(self.certificate, *names)
        text = self._read(
            "haproxy.cfg",
            ("bind :443,[::]:443", f"bind {PROXY}:{HTTPS_PORT}"),
            ("bind :80,[::]:80", f"bind {PROXY}:{HTTP_PORT}"),
            ("/etc/haproxy/specd.pem", str(self.certificate)),
            ("bind 127.0.0.1:5000", f"bind {PROXY}:{PRIMARY_PORT}"),
            ("/run/haproxy/admin.sock", str(self._haproxy_socket)),
        )
        path = self.folder / "haproxy.cfg"
        path.write_text(text)
        self._run("haproxy", ["/usr/sbin/haproxy", "-db", "-f", str(path)])

    def _start_pgbouncer(self) -> None:
        users = self.folder / "userlist.txt"
        users.write_text(f'"specd" "{PASSWORD}"\n')
        text = self._read(
            "pgbouncer.ini",
            ("host=127.0.0.1 port=5000", f"host={PROXY} port={PRIMARY_PORT}"),
            ("listen_addr = 127.0.0.1", f"listen_addr = {PROXY}"),
            ("/etc/pgbouncer/userlist.txt", str(users)),
        )
        path = self.folder / "pgbouncer.ini"
        path.write_text(text)
        self._run("pgbouncer", ["/usr/sbin/pgbouncer", str(path)], as_postgres=True)

    def _run(self, name: str, command: list[str], **options: Any) -> None:
        program = Program(command, self.folder / f"{name}.log", **options)
        self.programs[name] = program
        program.start()

    def stop(self) -> None:
        """Stop everything: specd as an operator does, the other programs immediately, because their
        data are deleted.
        """
        theirs = {name for name in self.programs if name.startswith(("serve", "worker"))}
        for name in theirs:
            self.programs[name].send(signal.SIGCONT)
            self.programs[name].send(signal.SIGTERM)
        for name in theirs:
            self.programs[name].stop()
        for name in self.programs.keys() - theirs:
            self.programs[name].kill()
        if self._has_small_disks:
            for name in NODES:
                subprocess.run(["umount", self.folder / name], check=False, capture_output=True)

    @property
    def _haproxy_socket(self) -> Path:
        return self.folder / "haproxy.sock"

    def balances(self, name: str) -> bool:
        """Return whether HAProxy sends requests to a machine."""
        return haproxy.servers(self._haproxy_socket)["payment", name] == "UP"

    @staticmethod
    def _read(name: str, *changes: tuple[str, str]) -> str:
        """Return a file of docs/deploy/cluster with the addresses of this machine."""
        text = (haproxy.FILES / name).read_text().replace("10.0.0.", "127.0.0.").replace(
            ": PASSWORD", f": {PASSWORD}"
        )  # fmt: skip
        return haproxy.replaced(text, *changes)

    # --- the database -------------------------------------------------------------------------

    def leader(self) -> str | None:
        """Return the node that reports itself as the primary."""
        for name, address in NODES.items():
            with suppress(httpx.HTTPError):
                if httpx.get(f"http://{address}:8008/primary", timeout=1).status_code == 200:
                    return name
        return None

    def takes_writes(self) -> bool:
        """Return whether the servers' connection leads to a primary that accepts writes."""
        with suppress(psycopg.Error), self.superuser() as connection:
            shown = connection.execute("SELECT pg_is_in_recovery()").fetchone()
            return shown == (False,)
        return False

    def replica(self) -> str:
        """Return the synchronous replica."""
        for name, address in NODES.items():
            with suppress(httpx.HTTPError):
                if httpx.get(f"http://{address}:8008/synchronous", timeout=1).status_code == 200:
                    return name
        raise LookupError("there is no synchronous replica")

    def has_synchronous(self) -> bool:
        """Return whether a synchronous replica follows the primary."""
        with suppress(LookupError):
            return bool(self.replica())
        return False

    def switch_over(self) -> None:
        """Make the synchronous replica the primary."""
        leader = self.leader()
        assert leader is not None
        answer = httpx.post(
            f"http://{NODES[leader]}:8008/switchover",
            json={"leader": leader, "candidate": self.replica()},
            timeout=60,
        )
        answer.raise_for_status()

    @contextmanager
    def superuser(self, database: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
        """A connection to the primary."""
        with psycopg.connect(
            host=PROXY, port=PRIMARY_PORT, user="postgres", password=PASSWORD, dbname=database,
            autocommit=True, connect_timeout=5,
        ) as connection:  # fmt: skip
            yield connection

    def database_url(self, service: str, *, is_pooled: bool = False) -> str:
        port = POOLER_PORT if is_pooled else PRIMARY_PORT
        password = PASSWORD.replace(" ", "%20")
        url = f"postgresql+psycopg://specd:{password}@{PROXY}:{port}/specd_{service}"
        return f"{url}?pooling=transaction" if is_pooled else url

    # --- machines -----------------------------------------------------------------------------

    def environment(self, name: str) -> dict[str, str]:
        """Return the environment of a machine: specd.env with local addresses."""
        folder = self.folder / name
        lines = (haproxy.FILES / "specd.env").read_text().splitlines()
        given = dict(line.split("=", 1) for line in lines if line.startswith("SPECD_"))
        secret = self.folder / "secret"
        secret.write_text(SECRET)
        places = {
            "SPECD_DATA_DIR": str(folder),
            "SPECD_BIND": f"{MACHINES[name]}:8080",
            "SPECD_WORKERS": "1",
            "SPECD_PUBLIC_URL": "https://pay.example",
            "SPECD_METRICS_DIR": str(folder / "metrics"),
            "SPECD_TRUSTED_PROXIES": "127.0.0.0/8",
            "SPECD_PAYMENT_SECRET_FILE": str(secret),
            "SPECD_CHAT_SECRET_FILE": str(secret),
            "SPECD_CHAT_EXPORT_DIR": str(self.folder / "exports"),
            "SPECD_CHAT_UPLOAD_DIR": str(self.folder / "uploads"),
        }
        for service in project.names:
            variable = f"SPECD_{service.upper()}_DATABASE"
            places[f"{variable}_URL"] = self.database_url(service, is_pooled=self.is_pooled)
            places[f"{variable}_DIRECT_URL"] = self.database_url(service) if self.is_pooled else ""
        assert places.keys() <= given.keys(), "specd.env does not name them"
        plain = {k: v for k, v in os.environ.items() if not k.startswith("SPECD_")}
        clock = {}
        if name in self._clocks:
            clock = {"LD_PRELOAD": str(FAKETIME), "FAKETIME": self._clocks[name]}
        return {**plain, "PYTHONPATH": str(ROOT), **given, **places, **self._settings, **clock}

    def start_machine(self, name: str, tree: Path = ROOT) -> None:
        """Start the server and the worker of a machine from a checkout."""
        (self.folder / name).mkdir(mode=0o700, exist_ok=True)
        for word in ("serve", "worker"):
            self.start_part(name, word, tree)

    def start_part(self, name: str, word: str, tree: Path = ROOT) -> None:
        env = {**self.environment(name), "PYTHONPATH": str(tree)}
        command = [sys.executable, "-m", "specd._cli.main", word]
        lent = ["env", "-C", str(tree), *command]
        self._run(f"{word}-{name}", lent, env=env)

    def until_ready(self, name: str) -> None:
        """Wait until a machine's server is ready. Raise TimeoutError, AssertionError."""
        program = self.programs[f"serve-{name}"]

        def is_ready() -> bool:
            assert program.is_running, program.log.read_text()[-3000:]
            with suppress(httpx.TransportError):
                answer = httpx.get(f"http://{MACHINES[name]}:8080/readyz", timeout=2)
                return answer.status_code == 200
            return False

        until(is_ready, f"machine {name}")

    def specd(self, *words: str, tree: Path = ROOT) -> str:
        """Run a command on the first machine, without the pooler, as an operator does."""
        env = self.environment("a")
        for service in project.names:
            env[f"SPECD_{service.upper()}_DATABASE_URL"] = self.database_url(service)
        done = subprocess.run(
            [sys.executable, "-m", "specd._cli.main", *words],
            cwd=tree, env={**env, "PYTHONPATH": str(tree)}, capture_output=True, text=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr + done.stdout
        return done.stdout

    def _migrate(self) -> None:
        self.specd("migrate")

    # --- the network --------------------------------------------------------------------------

    def cut(self, node: str) -> AbstractContextManager[None]:
        """A context in which no packet of a node's processes arrives."""
        return dropping(["-m", "owner", "--gid-owner", str(GROUPS[node])])

    def black_hole(self) -> AbstractContextManager[None]:
        """A context in which no packet passes to or from the primary."""
        return dropping(
            ["-p", "tcp", "-d", PROXY, "--dport", str(PRIMARY_PORT)],
            ["-p", "tcp", "-s", PROXY, "--sport", str(PRIMARY_PORT)],
        )

    def backends(self) -> set[int]:
        """Return the process ids of the primary that serve specd."""
        with self.superuser() as connection:
            query = "SELECT pid FROM pg_stat_activity WHERE usename = 'specd'"
            return {pid for (pid,) in connection.execute(query).fetchall()}

    def forgotten(self) -> AbstractContextManager[None]:
        """A context in which existing connections to the primary are silently dead, and new ones
        work.
        """
        done = subprocess.run(
            ["ss", "-Htn", "state", "established", "dst", f"{PROXY}:{PRIMARY_PORT}"],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        ports = [line.split()[2].rpartition(":")[2] for line in done.stdout.splitlines()]
        assert ports
        both = [
            ["-p", "tcp", way, PROXY, theirs, str(PRIMARY_PORT), ours, port]
            for port in ports
            for way, theirs, ours in (("-d", "--dport", "--sport"), ("-s", "--sport", "--dport"))
        ]
        return dropping(*both)


@contextmanager
def dropping(*rules: list[str]) -> Iterator[None]:
    """A context in which the firewall drops packets that match one of the rules of iptables."""
    with ExitStack() as stack:
        for rule in rules:
            subprocess.run(["iptables", "-w", "-I", "OUTPUT", *rule, "-j", "DROP"], check=True)
            back = ["iptables", "-w", "-D", "OUTPUT", *rule, "-j", "DROP"]
            stack.callback(subprocess.run, back, check=True)
        yield


@contextmanager
def running_cluster(folder: Path, **options: Any) -> Iterator[Cluster]:
    """A cluster from start to stop."""
    cluster = Cluster(folder, **options)
    with ExitStack() as stack:
        stack.callback(cluster.stop)
        cluster.start()
        yield cluster
