"""What one service needs to answer requests, made when it is compiled."""

from __future__ import annotations

from server.document.compiler import CompiledAPI
from server.response import standing_headers
from server.service import Service
from server.serving.documents import published
from server.serving.metrics import Meter
from server.threads import Threads
from server.wire.answering import raw_headers


class ServedAPI:
    """One service, compiled, with what it needs to answer: meters, threads, published documents."""

    def __init__(self, compiled: CompiledAPI, service: Service) -> None:
        self.service = service
        self.standing = raw_headers(standing_headers(is_https=service.origins.is_https))
        self.router = compiled.router
        self.prefix = service.base_path.encode("ascii") + b"/"
        self.documents = {
            path.encode("ascii"): document for path, document in published(service).items()
        }
        self.meters = {
            operation: Meter(service.name, operation.operation_id)
            for operation in compiled.operations.values()
        }
        self.unrouted = Meter(service.name, "-")
        self.threads = Threads(service.name, service.database)

    def close(self) -> None:
        self.threads.close()
