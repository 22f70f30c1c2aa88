"""Debian's proxies with their default configuration, in front of one server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.live.running_server import free_port, until_it_answers

CADDY = """
{{
  admin off
  auto_https off
}}
http://:{port} {{
  bind 127.0.0.1
  reverse_proxy 127.0.0.1:{server}
}}
"""
# One persistent connection to the server, so that unread data would reach the next request. The
# offer to upgrade is passed on, as on sites with web sockets.
NGINX = """
daemon off;
pid {folder}/nginx.pid;
events {{ }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  scgi_temp_path {folder}/scgi;
  uwsgi_temp_path {folder}/uwsgi;
  upstream specd {{ server 127.0.0.1:{server}; keepalive 1; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{
      proxy_pass http://specd;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_request_buffering off;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $http_connection;
    }}
  }}
}}
"""
HAPROXY = """
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend all
  bind 127.0.0.1:{port}
  default_backend specd
backend specd
  http-reuse always
  server one 127.0.0.1:{server}
"""
CONFIGURATIONS = {"caddy": CADDY, "nginx": NGINX, "haproxy": HAPROXY}
WORDS = {
    "caddy": ("run", "--adapter", "caddyfile", "--config"),
    "nginx": ("-e", "stderr", "-c"),
    "haproxy": ("-db", "-f"),
}


class Proxy:
    """One of `CONFIGURATIONS` in front of a server. A context manager."""

    def __init__(self, name: str, folder: Path, server: int) -> None:
        program = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
        if program is None:
            pytest.skip(f"{name}: not installed")
        self.port = free_port()
        folder.mkdir()
        file = folder / "configuration"
        file.write_text(CONFIGURATIONS[name].format(port=self.port, server=server, folder=folder))
        self._command = [program, *WORDS[name], str(file)]
        if name == "nginx" and os.geteuid() == 0:
            self._command += ["-g", "user root;"]
        self._env = {**os.environ, "HOME": str(folder)}
        self._log = folder / "out.log"

    def __enter__(self) -> Proxy:
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(self._command, stdout=log, stderr=log, env=self._env)
        until_it_answers(f"http://127.0.0.1:{self.port}/", self._process, self._log)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
