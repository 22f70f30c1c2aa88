"""How clients apply events of their user's own data."""

from __future__ import annotations

from tests.contract.continuity.store import Event, Store, applies

AT_TOP = ("twenty_four_hour_time", "pm_content_in_desktop_notifications")


@applies("user_settings")
def user_settings(store: Store, event: Event) -> None:
    store.state["user_settings"][event["property"]] = event["value"]
    if event["property"] in AT_TOP:
        store.state[event["property"]] = event["value"]
    if event["property"] == "enable_drafts_synchronization":
        store.state["drafts"] = []  # other settings exist only in the client


@applies("user_topic")
def user_topic(store: Store, event: Event) -> None:
    key = (event["stream_id"], store.topic_key(event["topic_name"]))
    kept = [
        policy
        for policy in store.state["user_topics"]
        if (policy["stream_id"], store.topic_key(policy["topic_name"])) != key
    ]
    if event["visibility_policy"]:
        kept.append({name: value for name, value in event.items() if name not in ("id", "type")})
    store.state["user_topics"] = kept


@applies("muted_topics")
def muted_topics(store: Store, event: Event) -> None:
    store.state["muted_topics"] = event["muted_topics"]


@applies("attachment")
def attachment(store: Store, event: Event) -> None:
    """Do nothing, because snapshots contain no files."""
    assert event["upload_space_used"] >= 0


@applies("alert_words")
def alert_words(store: Store, event: Event) -> None:
    store.state["alert_words"] = event["alert_words"]


@applies("muted_users")
def muted_users(store: Store, event: Event) -> None:
    store.state["muted_users"] = event["muted_users"]


@applies("device")
def device(store: Store, event: Event) -> None:
    devices, device_id = store.state["devices"], str(event["device_id"])
    match event["op"]:
        case "add":
            devices[device_id] = {
                "push_key_id": None,
                "push_token_id": None,
                "pending_push_token_id": None,
                "push_token_last_updated_timestamp": None,
                "push_registration_error_code": None,
            }
        case "update":
            change = {k: v for k, v in event.items() if k not in ("id", "type", "op", "device_id")}
            devices[device_id].update(change)
        case "remove":
            del devices[device_id]


@applies("has_vendor_token", "has_zoom_token")
def has_token(store: Store, event: Event) -> None:
    store.state[event["type"]] = event["value"]


@applies("scheduled_messages")
def scheduled_messages(store: Store, event: Event) -> None:
    """Apply an event of scheduled messages, which are sorted by time."""
    if event["op"] == "remove":
        store.take("scheduled_messages", "scheduled_message_id", event["scheduled_message_id"])
        return
    many = event["scheduled_messages"] if event["op"] == "add" else [event["scheduled_message"]]
    for message in many:
        store.take("scheduled_messages", "scheduled_message_id", message["scheduled_message_id"])
        store.state["scheduled_messages"].append(message)


@applies("reminders")
def reminders(store: Store, event: Event) -> None:
    if event["op"] == "remove":
        store.take("reminders", "reminder_id", event["reminder_id"])
        return
    store.state["reminders"].extend(event["reminders"])


@applies("drafts")
def drafts(store: Store, event: Event) -> None:
    if event["op"] == "remove":
        store.take("drafts", "id", event["draft_id"])
        return
    for draft in event["drafts"] if event["op"] == "add" else [event["draft"]]:
        store.take("drafts", "id", draft["id"])
        store.state["drafts"].append(draft)


@applies("saved_snippets")
def saved_snippets(store: Store, event: Event) -> None:
    match event["op"]:
        case "add":
            store.state["saved_snippets"].append(event["saved_snippet"])
        case "update":
            changed = event["saved_snippet"]
            found = store.find("saved_snippets", "id", changed["id"])
            assert found is not None
            found.update(changed)
        case "remove":
            store.take("saved_snippets", "id", event["saved_snippet_id"])


@applies("navigation_view")
def navigation_view(store: Store, event: Event) -> None:
    match event["op"]:
        case "add":
            store.state["navigation_views"].append(event["navigation_view"])
        case "update":
            found = next(
                view
                for view in store.state["navigation_views"]
                if view["fragment"] == event["fragment"]
            )
            found.update(event["data"])
        case "remove":
            views = store.state["navigation_views"]
            views[:] = [view for view in views if view["fragment"] != event["fragment"]]
