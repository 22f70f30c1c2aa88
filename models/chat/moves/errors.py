"""Errors of moves, for operators."""

from models.chat.errors import RefusedCommand


class NoSuchOrganization(RefusedCommand):
    """Facts: `host`."""

    sentence = "The installation to move from has no organization at {host}."


class MoveIsFinished(RefusedCommand):
    """Facts: `host`."""

    sentence = "The organization at {host} has moved; nothing is left to discard."


class NotNoted(RefusedCommand):
    """Facts: `host`."""

    sentence = "The source has not noted what changed at {host}; discard the move and begin again."


class NotFollowed(RefusedCommand):
    """The source changes faster than it can be copied. Facts: `changes`."""

    sentence = (
        "People change more than can be copied at the same time: at least {changes} changes are"
        " left. Run the command again at a quieter time; it goes on where it was."
    )


class NotTheSame(RefusedCommand):
    """After the last round. Facts: `table`, `before`, `after`."""

    sentence = (
        "The source has {before} rows of {table}, and {after} are here. The source goes on;"
        " discard the move."
    )


class TooManyIds(RefusedCommand):
    """Facts: `table`."""

    sentence = (
        "The source has handed out more ids of {table} since the move began than a move allows."
        " Discard the move and begin again."
    )
