"""The user and the settings of a command: the shipped wrapper, and errors without it."""

import os
import subprocess
from pathlib import Path

import click
import pytest

from specd._cli.identity import WITHOUT_DATA, require_identity
from specd._cli.main import find_commands
from tests.cli.runner import Specd

WRAPPER = Path(__file__).parents[2] / "docs" / "deploy" / "specd"
ROOT_USER, OTHER_USER = 0, 12345


def test_root_is_rejected_in_a_directory_of_another_user(tmp_path: Path) -> None:
    if os.geteuid() != ROOT_USER:
        pytest.skip("NOT TESTED: only root can give a directory away")
    env = {"SPECD_DATA_DIR": str(tmp_path)}
    for words in (["migrate"], ["chat", "create-realm"], ["--traceback", "payment", "list-keys"]):
        require_identity(words, env, user=ROOT_USER)  # its own
        os.chown(tmp_path, OTHER_USER, OTHER_USER)
        with pytest.raises(click.ClickException, match=r"belongs to the user 12345.*bin/specd"):
            require_identity(words, env, user=ROOT_USER)
        require_identity(words, env, user=OTHER_USER)
        require_identity([*words, "--help"], env, user=ROOT_USER)
        os.chown(tmp_path, ROOT_USER, ROOT_USER)


def test_rejected_command_creates_no_file(
    specd: Specd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != ROOT_USER:
        pytest.skip("NOT TESTED: only root can give a directory away")
    os.chown(tmp_path, OTHER_USER, OTHER_USER)
    monkeypatch.setenv("SPECD_DATA_DIR", str(tmp_path))
    for words in (["migrate"], ["chat", "create-realm"], ["doctor"], ["serve"], ["worker"]):
        assert "belongs to" in specd.refusal(*words)
    assert list(tmp_path.iterdir()) == []


def test_command_without_the_settings_of_the_service_is_rejected(tmp_path: Path) -> None:
    service = tmp_path / "specd.env"
    require_identity(["migrate"], {}, user=OTHER_USER, service=service)
    service.touch()
    with pytest.raises(click.ClickException, match="this command has none"):
        require_identity(["migrate"], {}, user=OTHER_USER, service=service)
    require_identity(["migrate"], {"SPECD_BIND": "x"}, user=OTHER_USER, service=service)
    for command in WITHOUT_DATA:
        require_identity([command], {}, user=OTHER_USER, service=service)


def test_commands_without_data_need_no_settings() -> None:
    assert set(find_commands()) >= WITHOUT_DATA


def test_wrapper_uses_only_the_settings_of_the_file(tmp_path: Path) -> None:
    settings = tmp_path / "specd.env"
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$@"; umask; env\n')
    program.chmod(0o755)
    settings.write_text(
        "# a comment\n\nSPECD_URL=postgresql://a:$HOME`id`@b/c?d=e&f=g\n"
        "SPECD_QUOTED=\"two words\"\nSPECD_LAST='x'"
    )
    script = WRAPPER.read_text()
    script = script.replace("/etc/specd.env", str(settings))
    script = script.replace("/opt/specd/.venv/bin/specd", str(program))
    script = script.replace("--reuid=specd --regid=specd --init-groups", "--clear-groups")
    script = script.replace("-o specd -g specd ", "")
    script = script.replace("/var/lib/specd", f"{tmp_path}/lib/specd")
    script = script.replace("/run/specd", str(tmp_path / "run"))
    kept = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "KEY": "of a merchant"}
    others = {"SPECD_OTHER": "mine", "HOME": "/root", "PGHOST": "other", "PYTHONPATH": "/x"}
    env = {**kept, **others}
    command = ["sh", "-c", script, "specd", "chat", "a b"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    words, umask, *lines = done.stdout.splitlines()
    assert (words, umask) == ("chat a b", "0077")
    assert {line for line in lines if line.startswith("SPECD_")} == {
        "SPECD_URL=postgresql://a:$HOME`id`@b/c?d=e&f=g",
        "SPECD_QUOTED=two words",
        "SPECD_LAST=x",
        "SPECD_PROJECT=/opt/specd",
    }
    homes = {"HOME": f"{tmp_path}/lib/specd", "USER": "specd", "LOGNAME": "specd"}
    wanted = {f"{name}={value}" for name, value in {**kept, **homes}.items()}
    assert wanted == {
        line for line in lines if not line.startswith(("SPECD_", "PWD=", "OLDPWD=", "_=", "SHLVL="))
    }
    if os.geteuid() == 0:
        folders = [tmp_path / "lib" / "specd", tmp_path / "run"]
        assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700, 0o700]
    settings.unlink()
    refused = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert refused.returncode == 77
    assert "run this as root or as specd" in refused.stderr


def test_release_is_printed(specd: Specd) -> None:
    status, out, err = specd("--version")
    assert (status, err) == (0, "")
    assert out.startswith("specd ")
    assert out.strip() != "specd unknown"
