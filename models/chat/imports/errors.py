"""Errors of imports, for operators."""

from models.chat.errors import RefusedCommand


class UnfinishedImport(RefusedCommand):
    """The host has an unfinished import, or an import that is being removed. Facts: `host`."""

    sentence = (
        "An unfinished import of another archive is at {host}; finish it with that archive, or"
        " remove it with --discard."
    )


class IdsInUse(RefusedCommand):
    """Facts: `reason`."""

    sentence = "The organization cannot keep its ids here: {reason}."


class NoSuchImport(RefusedCommand):
    """Facts: `host`."""

    sentence = "No unfinished import is at {host}."
