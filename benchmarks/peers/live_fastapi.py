"""Event queues written as in FastAPI's documentation: in memory, in one process.

The API is that of the chat service, without a database: nothing is stored, no permissions are
checked, and a restart loses every queue.
"""

import asyncio
import random
import time
from dataclasses import dataclass, field
from itertools import count
from typing import Annotated, Any
from uuid import uuid4

from fastapi import Depends, FastAPI, Form, HTTPException
from fastapi.security import HTTPBasic, HTTPBasicCredentials

PASSWORD = "the password of everybody"
HEARTBEAT_S = (45.0, 55.0)
app = FastAPI(openapi_url=None)
basic = HTTPBasic()
ids = count(1)


@dataclass
class Queue:
    """The events that a client has not acknowledged yet, and the event that wakes its poll."""

    user: str
    events: list[dict[str, Any]] = field(default_factory=list)
    woken: asyncio.Event = field(default_factory=asyncio.Event)


queues: dict[str, Queue] = {}


def current_user(credentials: Annotated[HTTPBasicCredentials, Depends(basic)]) -> str:
    if credentials.password != PASSWORD:
        raise HTTPException(401, "Unknown user.")
    return credentials.username


User = Annotated[str, Depends(current_user)]


@app.post("/api/v1/register")
async def register(user: User) -> dict[str, Any]:
    queue_id = str(uuid4())
    queues[queue_id] = Queue(user)
    return {"result": "success", "queue_id": queue_id, "last_event_id": -1}


@app.get("/api/v1/events")
async def get_events(user: User, queue_id: str, last_event_id: int) -> dict[str, Any]:
    queue = queues.get(queue_id)
    if queue is None or queue.user != user:
        raise HTTPException(400, "Bad event queue id.")
    queue.events = [event for event in queue.events if event["id"] > last_event_id]
    if not queue.events:
        queue.woken.clear()
        try:
            await asyncio.wait_for(queue.woken.wait(), random.uniform(*HEARTBEAT_S))
        except TimeoutError:
            return {"result": "success", "events": [{"id": next(ids), "type": "heartbeat"}]}
    return {"result": "success", "events": queue.events}


@app.post("/api/v1/messages")
async def send_message(
    user: User, to: Annotated[str, Form()], topic: Annotated[str, Form()],
    content: Annotated[str, Form()],
) -> dict[str, Any]:  # fmt: skip
    message_id = next(ids)
    message = {
        "id": message_id,
        "sender_id": 1,
        "sender_email": user,
        "sender_full_name": user,
        "sender_realm_str": "",
        "avatar_url": None,
        "client": "benchmark",
        "content": f"<p>{content}</p>",
        "content_type": "text/html",
        "display_recipient": to,
        "stream_id": 1,
        "type": "stream",
        "subject": topic,
        "timestamp": int(time.time()),
        "is_me_message": False,
        "reactions": [],
        "submessages": [],
        "topic_links": [],
    }
    event = {"id": next(ids), "type": "message", "message": message, "flags": []}
    for queue in queues.values():
        queue.events.append(event)
        queue.woken.set()
    return {"result": "success", "id": message_id}
