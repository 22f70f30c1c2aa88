"""How clients apply events of the organization."""

from __future__ import annotations

from tests.contract.continuity.store import Event, Store, applies


@applies("realm")
def realm(store: Store, event: Event) -> None:
    for name, value in event["data"].items():
        store.state[f"realm_{name}"] = value


@applies("realm_user_settings_defaults")
def realm_user_settings_defaults(store: Store, event: Event) -> None:
    store.state["realm_user_settings_defaults"][event["property"]] = event["value"]


@applies("realm_domains")
def realm_domains(store: Store, event: Event) -> None:
    domains = store.state["realm_domains"]
    match event["op"]:
        case "add":
            domains.append(event["realm_domain"])
        case "change":
            changed = event["realm_domain"]
            for domain in domains:
                if domain["domain"] == changed["domain"]:
                    domain.update(changed)
        case "remove":
            domains[:] = [each for each in domains if each["domain"] != event["domain"]]


@applies("realm_linkifiers", "realm_playgrounds")
def whole_list(store: Store, event: Event) -> None:
    store.state[event["type"]] = event[event["type"]]


@applies("realm_emoji")
def realm_emoji(store: Store, event: Event) -> None:
    if event["op"] == "update":
        store.state["realm_emoji"] = event["realm_emoji"]
