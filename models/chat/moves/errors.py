"""Errors of moves, for operators."""

from models.chat.errors import RefusedCommand


class NoSuchOrganization(RefusedCommand):
    """Facts: `host`."""

    sentence = "The installation to move from has no organization at {host}."


class MoveIsFinished(RefusedCommand):
    """Facts: `host`."""

    sentence = "The organization at {host} has already moved; there is nothing to discard."


class NotNoted(RefusedCommand):
    """Facts: `host`."""

    sentence = (
        "The source has not captured the changes at {host}; discard the move and start again."
    )


class NotFollowed(RefusedCommand):
    """The source changes faster than it can be copied. Facts: `changes`."""

    sentence = (
        "Data changes faster than it can be copied: at least {changes} changes are pending. Run"
        " the command again when traffic is lower; it resumes where it stopped."
    )


class NotTheSame(RefusedCommand):
    """After the last round. Facts: `table`, `before`, `after`."""

    sentence = (
        "The source has {before} rows of {table}, but {after} were copied. The source continues"
        " to serve; discard the move."
    )


class TooManyIds(RefusedCommand):
    """Facts: `table`."""

    sentence = (
        "The source has assigned more ids of {table} since the move began than a move allows. "
        "Discard the move and start again."
    )
