"""Heartbeats of workers."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from models.chat.base import ChatBase
from specd.db import UtcMs


class WorkerHeartbeat(ChatBase):
    """The time when a worker last ran without a failure (specd/_db/worker_heartbeats.py)."""

    __tablename__ = "worker_heartbeat"

    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    seen_at: Mapped[datetime] = mapped_column(UtcMs)
