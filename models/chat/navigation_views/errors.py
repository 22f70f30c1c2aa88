"""Navigation views."""

from models.chat.errors import ChatError


class NavigationViewDoesNotExist(ChatError):
    """The caller keeps no view with this fragment."""

    sentence = "Navigation view does not exist."
    advice = "Use a fragment that `GET /navigation_views` returns."


class EmptyFragment(ChatError):
    """The fragment consists of spaces."""

    sentence = "Fragment cannot be empty."
    advice = "Send the part of the view's URL after `#`."


class NavigationViewExists(ChatError):
    """The caller already keeps a view with this fragment or this name."""

    sentence = "Navigation view already exists."
    advice = "Change the existing view, or choose another name."


class BuiltInViewHasNoName(ChatError):
    """The fragment is a built-in view's, which clients name themselves."""

    sentence = "Built-in views cannot have a custom name."
    advice = "Leave out `name`."


class CustomViewNeedsName(ChatError):
    """The fragment is not a built-in view's, and the name is absent or empty."""

    sentence = "Custom views must have a valid name."
    advice = "Send a `name` of 1 to 100 characters."
