"""Channel folders."""

from models.chat.errors import ChatError


class FolderNameIsEmpty(ChatError):
    """The name is empty, or nothing but spaces."""

    sentence = "Channel folder name can't be empty."
    advice = "Send a name."


class InvalidCharacterInFolderName(ChatError):
    """The name holds a character that is not printed. Facts: `position`, from 1."""

    sentence = "Invalid character in channel folder name, at position {position}."
    advice = "Leave out the character at that position."


class FolderExists(ChatError):
    """Another folder has the name, in any case. Facts: `name`."""

    sentence = "Channel folder '{name}' already exists"
    advice = "Choose another name, or use the folder that has it."


class FolderInUse(ChatError):
    """A folder that still has channels was to be archived."""

    sentence = "You need to remove all the channels from this folder to archive it."
    advice = "Move its channels to another folder or to none, then archive it."


class InvalidFolderOrder(ChatError):
    """Not every folder of the organization is in the order."""

    sentence = "Invalid order mapping."
    advice = "Send every folder's id exactly once; `GET /channel_folders` lists them."
