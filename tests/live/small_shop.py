"""A shop as a merchant could write it. `faults` adds common mistakes."""

import threading
from collections import Counter
from typing import Any

from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

FAULTS = (
    FULFILS_ON_PROCESSING := "fulfils on processing",
    IGNORES_OVER := "ignores what is too much",
    FULFILS_TWICE := "fulfils twice",
    TRUSTS_ANYBODY := "trusts an unsigned body",
    KEEPS_LATE := "keeps money of orders that it does not fulfil",
    DOES_NOTHING := "does nothing",
)


class SmallShop:
    """The fulfilled orders, and the due and received atoms by order."""

    def __init__(self, *faults: str) -> None:
        self.faults, self.secret, self.seen = faults, "", set[str]()
        self.fulfilled, self.due, self.arrived = Counter[str](), Counter[str](), Counter[str]()
        self.app, self.lock = Flask("shop"), threading.Lock()
        self.app.post("/webhooks")(self.receive)
        self.app.post("/judge")(self.judge)

    def receive(self) -> tuple[str, int]:
        try:
            Webhook(self.secret).verify(request.data, dict(request.headers))
        except WebhookVerificationError:
            if not {TRUSTS_ANYBODY, DOES_NOTHING} & {*self.faults}:
                return "wrong signature", 401
        with self.lock:
            if request.headers["webhook-id"] not in self.seen or FULFILS_TWICE in self.faults:
                self.seen.add(request.headers["webhook-id"])
                self.handle(request.json["type"], request.json["data"])
        return "", 204

    def handle(self, kind: str, data: dict[str, Any]) -> None:
        order, is_early = data["invoice"]["external_order_id"], kind == "invoice.processing"
        self.due[order] = int(data["invoice"]["amount"])
        if sign := {"invoice.payment_received": 1, "invoice.payment_reorged": -1}.get(kind):
            self.arrived[order] += sign * int(data["payment"]["amount"])
        if kind == "invoice.paid" or (is_early and FULFILS_ON_PROCESSING in self.faults):
            is_new = order not in self.fulfilled or FULFILS_TWICE in self.faults
            self.fulfilled[order] += is_new and DOES_NOTHING not in self.faults

    def owed(self, order: str) -> int:
        """Return the atoms that belong to the shopper."""
        has_goods = self.fulfilled[order] > 0
        if {IGNORES_OVER if has_goods else KEEPS_LATE, DOES_NOTHING} & {*self.faults}:
            return 0
        return max(0, self.arrived[order] - self.due[order] * has_goods)

    def judge(self) -> dict[str, object]:
        order = request.json["external_order_id"]
        return {"fulfilled": self.fulfilled[order], "returned": str(self.owed(order))}
