"""Invitations."""

from models.chat.errors import ChatError


class InvitationFailed(ChatError):
    """Some or all addresses were not invited. Facts: `errors` (the reason for each address),
    `sent_invitations`, `license_limit_reached`, `daily_limit_reached`.
    """

    code = "INVITATION_FAILED"


class InvalidInvitees(InvitationFailed):
    """Some texts are not addresses, or the organization does not accept them. No invitations were
    sent.
    """

    sentence = "Some emails did not validate, so we didn't send any invitations."
    advice = "Correct or remove the addresses in `errors`, then send the request again."


class NobodyInvited(InvitationFailed):
    """All addresses belong to accounts of the organization."""

    sentence = "We weren't able to invite anyone."
    advice = "Write to the users directly, or reactivate those who are deactivated."


class SomeNotInvited(InvitationFailed):
    """Some addresses belong to accounts of the organization. All others were invited."""

    sentence = (
        "Some of those addresses already have an account here, so we didn't send them an "
        "invitation. We did send invitations to everyone else!"
    )
    advice = "Do not send the request again. `errors` lists the addresses that have accounts."


class TooManyInvitations(InvitationFailed):
    """The caller or the organization has sent the maximum number of invitations for one day."""

    sentence = (
        "To protect users, the number of invitations a day is limited. The limit is reached, so no "
        "invitations were sent."
    )
    advice = "Send the invitations tomorrow, or create a reusable link."


class NoInvitees(ChatError):
    """The request contains no address."""

    sentence = "You must specify at least one email address."
    advice = "Send addresses in `invitee_emails`, separated by commas or line breaks."


class InvalidChannelToJoin(ChatError):
    """The channel is unknown, belongs to another organization, is archived or is hidden from the
    caller. Facts: `channel_id`.
    """

    sentence = "Invalid channel ID {channel_id}. No invites were sent."
    advice = "Use the `stream_id` of a channel that you can read."


class CannotSubscribeInvitees(ChatError):
    """The caller may not subscribe others to one of the channels."""

    sentence = "You do not have permission to subscribe other users to channels."
    advice = "Omit the channels to which you cannot add subscribers."


class NoSuchInvitation(ChatError):
    """The invitation is unknown, was accepted or revoked, or belongs to another user and the caller
    is not an administrator. The response is the same for all.
    """

    sentence = "No such invitation"
    advice = "Use an id that `GET /invites` returns."


class InvitationNotFound(ChatError):
    """No invitation has this token: it was accepted or revoked, has expired or never existed, or
    the user who sent it can no longer invite.
    """

    sentence = "The invitation is unknown, was used already or has expired."
    advice = "Ask the person who invited you for another invitation."
