"""A shop as a merchant may write it: Flask, `standardwebhooks`, and a book of orders.

`faults` plants mistakes that merchants make.
"""

import threading
from collections import Counter
from collections.abc import Collection

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from werkzeug.serving import make_server

FULFILS_ON_PROCESSING, IGNORES_OVER, FULFILS_TWICE, TRUSTS_ANYBODY = FAULTS = (
    "fulfils on processing",
    "ignores what is too much",
    "fulfils twice",
    "trusts an unsigned body",
)
"""Mistakes that a merchant can make."""


class SmallShop:
    """What has been fulfilled, and what belongs to the shopper, by order."""

    def __init__(self, faults: Collection[str] = ()) -> None:
        self.faults = set(faults)
        self.secret = ""
        self.seen: set[str] = set()
        self.fulfilled: Counter[str] = Counter()
        self.owed: dict[str, str] = {}
        app = Flask("shop")
        app.add_url_rule("/webhooks", view_func=self.take, methods=["POST"])
        self._server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._lock = threading.Lock()

    def __enter__(self) -> "SmallShop":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def take(self) -> tuple[str, int]:
        """Take one message."""
        if TRUSTS_ANYBODY not in self.faults:
            try:
                Webhook(self.secret).verify(request.data, dict(request.headers))
            except WebhookVerificationError:
                return "wrong signature", 401
        with self._lock:
            if request.headers["webhook-id"] not in self.seen or FULFILS_TWICE in self.faults:
                self.seen.add(request.headers["webhook-id"])
                self.handle(request.json)
        return "", 204

    def handle(self, message: dict) -> None:
        invoice = message["data"]["invoice"]
        order, type_ = invoice["external_order_id"], message["type"]
        starts = {"invoice.paid"}
        if FULFILS_ON_PROCESSING in self.faults:
            starts.add("invoice.processing")
        if type_ in starts and (order not in self.fulfilled or FULFILS_TWICE in self.faults):
            self.fulfilled[order] += 1
        if type_ == "invoice.overpaid" and IGNORES_OVER not in self.faults:
            self.owed[order] = "excess"
        if type_ == "invoice.paid_late":
            self.owed[order] = "all"
