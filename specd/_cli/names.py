"""Names on the command line that the project decides on."""

import click

from specd._project import find_services


class ServiceName(click.Choice[str]):
    """A service of the project. Outside of a project there is none, but the help can be read."""

    def __init__(self) -> None:
        super().__init__([service.name for service in find_services()])
