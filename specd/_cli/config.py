"""`specd config check`: lists every setting with its value and origin."""

import os
from dataclasses import asdict

import click

from specd._cli.output import answer, json_option
from specd._settings import find_removed, load_settings


@click.group()
def config() -> None:
    """Inspect the settings."""


@config.command()
@json_option
def check(as_json: bool) -> None:
    """Check and print every setting.

    Secrets are masked.
    """
    for name, advice in find_removed(os.environ).items():
        click.echo(f"Warning: {name} no longer has an effect: {advice}", err=True)
    described = load_settings().describe(os.environ)
    answer(
        {"settings": [asdict(line) for line in described]},
        as_json=as_json,
        columns=("variable", "value", "origin", "meaning"),
        rows=[(line.variable, line.value, line.origin, line.help) for line in described],
    )
