"""All known differences between us and the oracles, from all modules that register them."""

from tests.contract.differential import oracles, oracles_chat, oracles_forms

MODULES = (oracles, oracles_forms, oracles_chat)
EVERY = oracles.DIFFERENCES
