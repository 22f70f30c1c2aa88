"""An organization with rows of many kinds, for archives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.support.chat.app import ChatClient, SentFile
from tests.support.chat.people import Cast
from tests.support.chat.prepared import Preparation, Stage
from tests.support.pictures import PIXEL, picture

HOUR = 3600


@dataclass(frozen=True, slots=True)
class Everything:
    """The ids of the created objects."""

    channel_id: int
    private_id: int
    message_id: int
    direct_id: int
    group_id: int
    emoji_id: str
    file: str
    picture: str
    scheduled_id: int


def _fill(stage: Stage) -> Everything:
    client = ChatClient(stage.app, "acme.example")
    return make_everything(client, stage.cast, now=int(stage.clock.now().timestamp()))


WITH_EVERYTHING = Preparation("everything", _fill)
"""Created once in a process. Tests use copies."""


def make_everything(nobody: ChatClient, cast: Cast, *, now: int) -> Everything:
    """Create everything by the operations of the API."""
    owner, hamlet, othello = map(nobody.acting_as, (cast.cordelia, cast.hamlet, cast.othello))

    def done(answer: dict[str, Any]) -> dict[str, Any]:
        assert answer["result"] == "success", answer
        return answer

    def say(who: ChatClient, text: str, to: Any, topic: str | None = "ghost") -> int:
        kind = "direct" if isinstance(to, list) else "channel"
        more = {} if kind == "direct" else {"topic": topic}
        return int(done(who.post("/messages", type=kind, to=to, content=text, **more))["id"])

    all_people = [cast.hamlet.id, cast.othello.id, cast.cordelia.id]
    for name, more in (("Elsinore", {}), ("Secrets", {"invite_only": True})):
        subscribed = [{"name": name, "description": "Of **stone**"}]
        done(
            owner.post(
                "/users/me/subscriptions", subscriptions=subscribed, principals=all_people, **more
            )
        )
    channels = {each["name"]: each["stream_id"] for each in done(owner.get("/streams"))["streams"]}
    channel_id, private_id = channels["Elsinore"], channels["Secrets"]
    group = owner.post(
        "/user_groups/create", name="watch", description="", members=[cast.hamlet.id]
    )
    done(group)
    done(owner.post("/realm/emoji/yorick", file=SentFile("skull.png", PIXEL, "image/png")))
    (emoji_id,) = done(owner.get("/realm/emoji"))["emoji"]
    face = SentFile("me.jpg", picture("JPEG", 40, 30), "image/jpeg")
    done(hamlet.post("/users/me/avatar", file=face))
    file = done(hamlet.post("/user_uploads", file=SentFile("notes.txt")))["url"]
    shown = done(hamlet.post("/user_uploads", file=SentFile("p.png", PIXEL, "image/png")))["url"]
    first = say(hamlet, "Who is there?", channel_id)
    say(othello, f"[notes]({file}) and [p.png]({shown}) :yorick:", channel_id)
    done(hamlet.post(f"/messages/{first}/reactions", emoji_name="yorick"))
    done(othello.post(f"/messages/{first}/reactions", emoji_name="heart"))
    done(hamlet.patch(f"/messages/{first}", content="Who is here?"))
    done(hamlet.patch(f"/messages/{first}", topic="ramparts", propagate_mode="change_one"))
    direct = say(hamlet, "Between us", [cast.othello.id])
    poll = say(hamlet, "/poll To be?\nYes\nNo", channel_id)
    added = {"type": "new_option", "idx": 1, "option": "Perhaps"}
    done(othello.post("/submessage", message_id=poll, msg_type="widget", content=added))
    vote = {"type": "vote", "key": f"{cast.othello.id},1", "vote": 1}
    done(othello.post("/submessage", message_id=poll, msg_type="widget", content=vote))
    done(hamlet.post("/messages/flags", messages=[first, direct], op="add", flag="starred"))
    done(hamlet.post("/users/me/alert_words", alert_words=["Castle", "moat"]))
    done(
        hamlet.post("/saved_snippets", title="Greeting", content=f"@**Othello|{cast.othello.id}**")
    )
    draft = {"type": "private", "to": [cast.othello.id], "topic": "", "content": "Dear"}
    done(hamlet.post("/drafts", drafts=[draft]))
    done(
        hamlet.post(
            "/navigation_views", fragment=f"narrow/dm/{cast.othello.id}-Othello", is_pinned=True,
            name="Othello",
        )
    )  # fmt: skip
    done(hamlet.post(f"/users/me/muted_users/{cast.iago.id}"))
    done(hamlet.put("/bot_storage", storage={"visits": "1"}))
    done(owner.post("/realm/filters", pattern="#(?P<n>[0-9]+)", url_template="https://x/{n}"))
    done(
        owner.post(
            "/realm/playgrounds", name="Try", syntax_language="Go", url_template="https://x/{code}"
        )
    )
    field = done(owner.post("/realm/profile_fields", name="Friends", field_type=6))["id"]
    friends = [{"id": field, "value": [cast.othello.id]}]
    done(hamlet.patch("/users/me/profile_data", data=friends))
    done(owner.post("/realm/domains", domain="acme.example", allow_subdomains=False))
    done(owner.post("/channel_folders/create", name="Castles", description=""))
    done(owner.post("/invites/multiuse"))
    done(owner.post("/invites", invitee_emails="horatio@acme.example", stream_ids=[channel_id]))
    done(hamlet.post("/users/me/status", status_text="Thinking", emoji_name="yorick",
                     emoji_code=emoji_id, reaction_type="realm_emoji"))  # fmt: skip
    done(hamlet.post("/user_topics", stream_id=channel_id, topic="ghost", visibility_policy=3))
    scheduled = done(
        hamlet.post(
            "/scheduled_messages", type="direct", to=[cast.othello.id], content="Later",
            scheduled_delivery_timestamp=now + HOUR,
        )
    )  # fmt: skip
    done(hamlet.post("/reminders", message_id=first, scheduled_delivery_timestamp=now + 9 * HOUR))
    done(
        owner.patch(
            f"/streams/{channel_id}",
            can_send_message_group={
                "new": {"direct_members": [cast.hamlet.id], "direct_subgroups": []}
            },
        )
    )
    say(
        hamlet,
        f"@**Othello|{cast.othello.id}** @*watch* #**Elsinore>ramparts@{first}** "
        f"[said](/#narrow/channel/{channel_id}-Elsinore/topic/ramparts/near/{first}) "
        f"https://acme.example/#narrow/dm/{cast.hamlet.id},{cast.othello.id}-dm/near/{direct} "
        f"https://other.example/#narrow/channel/{channel_id}-Elsinore [f]({file})",
        channel_id,
    )
    return Everything(
        channel_id=channel_id,
        private_id=private_id,
        message_id=first,
        direct_id=direct,
        group_id=group["group_id"],
        emoji_id=emoji_id,
        file=file,
        picture=shown,
        scheduled_id=scheduled["scheduled_message_id"],
    )
