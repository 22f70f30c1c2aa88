"""Push notifications: devices, their registrations, and the push relay.

Users add devices, register them for push notifications and remove them. A registration needs two
units of work, before and after the relay's response. Between them, `pending_push_token_id` is set.

Notifications are encrypted for a device with libsodium's secretbox (XSalsa20 and Poly1305). A push
key is 33 bytes in base64: 0x31, which identifies the cryptosystem, and the 32 bytes of the key.
"""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import orjson
from nacl.secret import SecretBox
from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from models.chat.common.vault import Vault
from models.chat.errors import ChatError
from models.chat.events import log
from models.chat.events.account import DeviceAddEvent, DeviceRemoveEvent, DeviceUpdateEvent
from models.chat.events.log import ClientEvent
from models.chat.identity.actors import Actor
from models.chat.tables import ClientDevice
from specd.db import Db, UtcMs


class NoActivePushDevice(ChatError):
    """The caller has no device that is registered for notifications."""

    code = "NO_ACTIVE_PUSH_DEVICE"
    sentence = "No active registered push device"
    advice = "Register the device first, with `POST /mobile_push/register`."


class AdminActionRequired(ChatError):
    """The push relay rejects this server or organization because of its credentials, plan or
    registration.
    """

    code = "ADMIN_ACTION_REQUIRED"
    sentence = (
        "Push notification configuration issue on server, contact the server administrator or "
        "retry later."
    )
    advice = (
        "Contact the operator of the server. Retry only after the operator has fixed the problem."
    )


class FailedToConnectBouncer(ChatError):
    """The push relay did not respond, or its response is invalid."""

    code = "FAILED_TO_CONNECT_BOUNCER"
    sentence = "Network error while connecting to Zulip push notification service."
    advice = "Try again in a moment."


class InternalServerErrorOnBouncer(ChatError):
    """The push relay reported an internal error."""

    code = "INTERNAL_SERVER_ERROR_ON_BOUNCER"
    sentence = "Internal server error on Zulip push notification service, retry later."
    advice = "Try again in a moment."


class PushServiceNotConfigured(ChatError):
    """The server has no push relay."""

    code = "PUSH_SERVICE_NOT_CONFIGURED"
    sentence = "Server is not configured to use push notification service."
    advice = "Ask the operator of the server to configure a push relay."


class InvalidDeviceId(ChatError):
    """The device is unknown or belongs to another user. The response is the same for both."""

    sentence = "Invalid `device_id`"
    advice = "Register the device, and use the `device_id` of the response."


class MissingPushFields(ChatError):
    """The request contains only some fields of the key or of the token."""

    sentence = (
        "Missing parameters: must provide either all push key fields, all token fields, or both."
    )
    advice = "Send all fields of the key, all fields of the token, or both."


class InvalidPushKey(ChatError):
    """The key cannot be used to encrypt notifications."""

    sentence = "Invalid `push_key`"
    advice = "Send the Base64 form of the byte 0x31 followed by the 32 bytes of the key."


class InvalidPushKeyId(ChatError):
    """The id of the key is not an unsigned 32-bit integer."""

    sentence = "Invalid push_key_id: Value error, Not a valid unsigned 32-bit integer"
    advice = "Send a number from 0 to 4294967295."


class TokenIdNotBase64(ChatError):
    """The id of the token is not Base64."""

    sentence = "`token_id` is not Base64 encoded"
    advice = "Send the Base64 form of the 8 bytes."


class NoRegistrationToRotate(ChatError):
    """The device has no registration whose key or token could be replaced. Facts: `what`, key or
    token.
    """

    sentence = "No push registration exists to rotate {what} for."
    advice = "Register the device with all fields first."


class RegistrationInProgress(ChatError):
    """The push relay has not responded to the last registration yet."""

    sentence = "A registration for the device already in progress."
    advice = "Wait until the registration has succeeded or failed."


SECRETBOX = 0x31
KEY_BYTES = 33
TOKEN_ID_BYTES = 8
KEY_ID_MAX = 2**32 - 1


def encrypt(payload: Mapping[str, Any], push_key: str) -> str:
    """Return the payload as JSON, encrypted with the push key: nonce and box, in base64."""
    box = SecretBox(base64.b64decode(push_key)[1:])
    return base64.b64encode(box.encrypt(orjson.dumps(payload))).decode("ascii")


def _decode(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


ABANDONED_AFTER = timedelta(minutes=1)
"""After this time a registration is considered abandoned, and a new one may begin."""

TARGETS_MAX = 100

_OF_USER = (
    select(
        ClientDevice.id,
        ClientDevice.push_key_id,
        ClientDevice.push_token_id,
        ClientDevice.pending_push_token_id,
        ClientDevice.push_token_changed_at,
        ClientDevice.push_error_code,
    )
    .where(ClientDevice.user_id == bindparam("user_id"))
    .order_by(ClientDevice.id)
)
_TARGETS = (
    select(
        ClientDevice.id,
        ClientDevice.push_token_id,
        ClientDevice.push_token_kind,
        ClientDevice.push_key_id,
        ClientDevice.sealed_push_key,
    )
    .where(ClientDevice.user_id == bindparam("user_id"), ClientDevice.push_token_id.is_not(None))
    .order_by(ClientDevice.id.desc())
    .limit(TARGETS_MAX)
)


@dataclass(frozen=True, slots=True)
class PushKey:
    """The key that encrypts a device's notifications, and its number on the device."""

    key: str
    key_id: int


@dataclass(frozen=True, slots=True)
class PushToken:
    """A device's registration at its push service. Only the relay can read it."""

    kind: str
    token_id: str
    public_key: str
    registration: str


@dataclass(frozen=True, slots=True)
class Target:
    """An active device, with the data that a notification requires."""

    device_id: int
    token_id: str
    token_kind: str
    key_id: int
    key: str


def check_push_fields(
    push_key: str | None,
    push_key_id: int | None,
    token_kind: str | None,
    token_id: str | None,
    public_key: str | None,
    registration: str | None,
) -> tuple[PushKey | None, PushToken | None]:
    """Return the complete key, the complete token, or both.

    Raise `MissingPushFields`, `InvalidPushKey`, `InvalidPushKeyId`, `TokenIdNotBase64`.
    """
    key = token = None
    if push_key is not None and push_key_id is not None:
        raw = _decode(push_key)
        if raw is None or len(raw) != KEY_BYTES or raw[0] != SECRETBOX:
            raise InvalidPushKey()
        if not 0 <= push_key_id <= KEY_ID_MAX:
            raise InvalidPushKeyId()
        key = PushKey(push_key, push_key_id)
    if token_kind and token_id is not None and public_key is not None and registration is not None:
        raw = _decode(token_id)
        if raw is None or len(raw) != TOKEN_ID_BYTES:
            raise TokenIdNotBase64()
        token = PushToken(token_kind, token_id, public_key, registration)
    if key is None and token is None:
        raise MissingPushFields()
    return key, token


def register_device(session: Session, actor: Actor, *, now: datetime) -> int:
    """Add a device of the actor and return its id."""
    device = ClientDevice(user_id=actor.id, registered_at=now)
    session.add(device)
    session.flush()
    _append_event(session, actor, DeviceAddEvent(device_id=device.id), now)
    return device.id


def remove_device(session: Session, actor: Actor, device_id: int, *, now: datetime) -> None:
    """Delete a device and its keys. Raise `InvalidDeviceId`."""
    session.delete(_access(session, actor, device_id))
    _append_event(session, actor, DeviceRemoveEvent(device_id=device_id), now)


def find_devices(db: Db, user_id: int) -> dict[str, dict[str, Any]]:
    """Return device id as text -> its state, like `devices` in Zulip."""
    return {
        str(row.id): {
            "push_key_id": row.push_key_id,
            "push_token_id": row.push_token_id,
            "pending_push_token_id": row.pending_push_token_id,
            "push_token_last_updated_timestamp": _unix(row.push_token_changed_at),
            "push_registration_error_code": row.push_error_code,
        }
        for row in db.execute(_OF_USER, {"user_id": user_id})
    }


def require_device(db: Db, actor: Actor, device_id: int) -> None:
    """Raise `InvalidDeviceId` unless the device is the actor's."""
    query = select(ClientDevice.id).where(
        ClientDevice.id == device_id, ClientDevice.user_id == actor.id
    )
    if db.execute(query).first() is None:
        raise InvalidDeviceId()


def begin_registration(
    session: Session,
    vault: Vault,
    actor: Actor,
    device_id: int,
    *,
    key: PushKey | None,
    token: PushToken | None,
    now: datetime,
) -> bool:
    """Store the key and the token. Return whether the relay must get the token.

    A key or a token alone replaces the value of an earlier registration. A known key or token
    changes nothing. Raise `InvalidDeviceId`, `NoRegistrationToRotate`, `RegistrationInProgress`.
    """
    device = _access(session, actor, device_id)
    if device.push_key_id is None and (key is None or token is None):
        raise NoRegistrationToRotate(what="key" if token is None else "token")
    if token is not None and _is_pending(device, now):
        raise RegistrationInProgress()
    event = unchanged = DeviceUpdateEvent(device_id=device_id)
    if key is not None and not _has_key(device, vault, key):
        device.push_key_id = key.key_id
        event = replace(event, push_key_id=key.key_id)
        device.sealed_push_key = vault.seal(key.key, purpose=purpose_of(device_id))
    is_new = token is not None and (
        device.push_error_code is not None
        or device.push_token_id != token.token_id
        or device.push_token_kind != token.kind
    )
    if is_new:
        assert token is not None
        device.push_token_kind = token.kind
        device.pending_push_token_id = token.token_id
        device.push_error_code = None
        device.push_token_changed_at = now
        event = replace(
            event,
            pending_push_token_id=token.token_id,
            push_registration_error_code=None,
            push_token_last_updated_timestamp=UtcMs.to_ms(now) // 1000,
        )
    if event != unchanged:
        _append_event(session, actor, event, now)
    return is_new


def end_registration(
    session: Session,
    actor: Actor,
    device_id: int,
    token_id: str,
    *,
    error_code: str | None,
    has_failed: bool = False,
    now: datetime,
) -> None:
    """Store the result of the registration of a token: registered, rejected with a code, or
    `has_failed`, after which it may be tried again. Do nothing if another registration has begun
    meanwhile.
    """
    device = session.get(ClientDevice, device_id, with_for_update=True)
    if device is None or device.pending_push_token_id != token_id:
        return
    event = DeviceUpdateEvent(device_id=device_id, pending_push_token_id=None)
    device.pending_push_token_id = None
    if error_code is not None:
        device.push_error_code = error_code
        event = replace(event, push_registration_error_code=error_code)
    elif not has_failed:
        device.push_token_id = token_id
        event = replace(event, push_token_id=token_id)
    _append_event(session, actor, event, now)


def find_targets(db: Db, vault: Vault, actor: Actor, device_id: int | None) -> list[Target]:
    """Return the actor's active devices, or the device with this id. Raise `NoActivePushDevice` if
    there are none.
    """
    query = _TARGETS if device_id is None else _TARGETS.where(ClientDevice.id == device_id)
    targets = []
    for row in db.execute(query, {"user_id": actor.id}):
        key = vault.open(row.sealed_push_key or "", purpose=purpose_of(row.id))
        if key is not None:
            targets.append(
                Target(row.id, row.push_token_id, row.push_token_kind, row.push_key_id, key)
            )
    if not targets:
        raise NoActivePushDevice()
    return targets


def forget_tokens(
    session: Session, actor: Actor, token_ids: frozenset[str], *, now: datetime
) -> None:
    """Delete tokens that the push service no longer knows. Their devices become inactive."""
    devices = session.scalars(
        select(ClientDevice)
        .where(ClientDevice.user_id == actor.id, ClientDevice.push_token_id.in_(token_ids))
        .order_by(ClientDevice.id)
        .with_for_update()
    )
    for device in devices.all():
        device.push_token_id = None
        _append_event(
            session, actor, DeviceUpdateEvent(device_id=device.id, push_token_id=None), now
        )


def _access(session: Session, actor: Actor, device_id: int) -> ClientDevice:
    # Locked, so that the second of two concurrent registrations reads the values stored by the
    # first.
    device = session.get(ClientDevice, device_id, with_for_update=True)
    if device is None or device.user_id != actor.id:
        raise InvalidDeviceId()
    return device


def _is_pending(device: ClientDevice, now: datetime) -> bool:
    return (
        device.pending_push_token_id is not None
        and device.push_error_code is None
        and device.push_token_changed_at is not None
        and device.push_token_changed_at > now - ABANDONED_AFTER
    )


def _has_key(device: ClientDevice, vault: Vault, key: PushKey) -> bool:
    if device.push_key_id != key.key_id or device.sealed_push_key is None:
        return False
    return vault.open(device.sealed_push_key, purpose=purpose_of(device.id)) == key.key


def _append_event(session: Session, actor: Actor, event: ClientEvent, now: datetime) -> None:
    log.append(session, actor.realm_id, event, now=now, user_ids=[actor.id])


def purpose_of(device_id: int) -> str:
    return f"push_key:{device_id}"


def _unix(at: datetime | None) -> int | None:
    return None if at is None else UtcMs.to_ms(at) // 1000
