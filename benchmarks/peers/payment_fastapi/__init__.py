"""The payment service as FastAPI's, pydantic's and SQLAlchemy's own documentation would write it.

Sync `def` endpoints, one ORM session per request from a dependency, response models, uniqueness
constraints and one transaction for key, invoice, address index and event. It promises
what `specs/payment.yaml` promises for create, replay, get, cancel and list; it leaves out what
costs time and is not part of that promise: request log, metrics, rate limits, the guard against
hostile bodies, `last_used_at`.
"""
