"""Channel folders."""

from models.chat.errors import ChatError


class FolderNameIsEmpty(ChatError):
    sentence = "Channel folder name can't be empty."


class InvalidCharacterInFolderName(ChatError):
    """Facts: `position`, from 1."""

    sentence = "Invalid character in channel folder name, at position {position}."


class FolderExists(ChatError):
    """Another folder has the name, in any case. Facts: `name`."""

    sentence = "Channel folder '{name}' already exists"


class FolderInUse(ChatError):
    sentence = "You need to remove all the channels from this folder to archive it."


class InvalidFolderOrder(ChatError):
    """Not every folder of the organization is in the order."""

    sentence = "Invalid order mapping."
