"""Types of arguments whose values the project defines."""

import click

from specd._project import find_services


class ServiceName(click.Choice[str]):
    """A service of the project. Outside of a project there are no choices, but `--help` still
    works.
    """

    def __init__(self) -> None:
        super().__init__([service.name for service in find_services()])
