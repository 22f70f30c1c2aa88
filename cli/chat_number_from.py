"""`specd chat number-from`: reserves a range of ids for each of several installations."""

from functools import partial

import click

from models.chat.moves.capture import FOLLOWED
from models.chat.tables import Event
from models.row_numbers import reserve
from settings import Settings
from specd.commands import answer, json_option, open_database
from specd.db import table_of

MOST = 2_000_000_000
"""The limit of the first id: clients store ids as signed 32-bit integers."""


@click.command("number-from")
@click.argument("first", type=click.IntRange(1, MOST))
@json_option
def number_from(first: int, as_json: bool) -> None:
    """Reserve ids from FIRST upwards for new rows.

    If an id is larger already, new rows are numbered from there. An organization keeps its ids when
    it moves between installations with separate ranges.
    """
    with open_database("chat", Settings.from_env()) as database:
        for table in (*FOLLOWED, table_of(Event)):
            if "id" in table.c:
                database.run(partial(reserve, table=table, count=0, after=first - 1))
    text = f"New organizations, users, channels and messages have ids from {first} upwards."
    answer({"first": first}, as_json=as_json, text=text)
