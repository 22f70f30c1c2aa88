"""The payment service written as in the documentation of FastAPI, pydantic and SQLAlchemy.

It has sync `def` endpoints, one ORM session per request from a dependency, response models,
uniqueness constraints, and one transaction for key, invoice, address index and event. It implements
create, replay, get, cancel and list of `specs/payment.yaml`. It omits features that cost time and
are not specified there: request log, metrics, rate limits, protection against hostile bodies,
`last_used_at`.
"""
