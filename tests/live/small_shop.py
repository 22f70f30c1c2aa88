"""A shop as a merchant may write it: Flask, `standardwebhooks`, and a book of orders.

`faults` plants mistakes that merchants make.
"""

import threading
from collections import Counter
from collections.abc import Collection

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from werkzeug.serving import make_server

FULFILS_ON_PROCESSING, IGNORES_OVER, FULFILS_TWICE, TRUSTS_ANYBODY, KEEPS_LATE, DOES_NOTHING = (
    "fulfils on processing",
    "ignores what is too much",
    "fulfils twice",
    "trusts an unsigned body",
    "keeps money of orders that it does not fulfil",
    "does nothing",
)
FAULTS = (
    FULFILS_ON_PROCESSING,
    IGNORES_OVER,
    FULFILS_TWICE,
    TRUSTS_ANYBODY,
    KEEPS_LATE,
    DOES_NOTHING,
)
"""Mistakes that a merchant can make."""


class SmallShop:
    """What has been fulfilled, and what arrived, by order. `judge_url` answers what it did."""

    def __init__(self, faults: Collection[str] = ()) -> None:
        self.faults = set(faults)
        self.secret = ""
        self.seen: set[str] = set()
        self.fulfilled: Counter[str] = Counter()
        self.due: dict[str, int] = {}
        self.arrived: Counter[str] = Counter()
        app = Flask("shop")
        app.add_url_rule("/webhooks", view_func=self.take, methods=["POST"])
        app.add_url_rule("/judge", view_func=self.judge, methods=["POST"])
        self._server = make_server("127.0.0.1", 0, app, threaded=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/webhooks"
        self.judge_url = self.url.replace("/webhooks", "/judge")
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
        if DOES_NOTHING in self.faults:
            return "", 204
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
        self.due[order] = int(invoice["amount"])
        if type_ in ("invoice.payment_received", "invoice.payment_reorged"):
            sign = 1 if type_ == "invoice.payment_received" else -1
            self.arrived[order] += sign * int(message["data"]["payment"]["amount"])

    def owed(self, order: str) -> int:
        """Return the atoms that belong to the shopper: what no fulfilment has paid for."""
        has_goods = self.fulfilled[order] > 0
        if (IGNORES_OVER if has_goods else KEEPS_LATE) in self.faults:
            return 0
        return max(0, self.arrived[order] - (self.due[order] if has_goods else 0))

    def judge(self) -> dict:
        """Answer what was done for an order."""
        with self._lock:
            order = request.json["external_order_id"]
            return {"fulfilled": self.fulfilled[order], "returned": str(self.owed(order))}
