"""The typed context of payment's handlers: a request with its actor, adapters and settings."""

from dataclasses import dataclass, field

import specd
from adapters.chain.development import DevelopmentChains, RpcDevelopmentChains
from adapters.chain.gateway import ChainGateway
from handlers.payment.wire.key_uses import KeyUses
from handlers.payment.wire.webhooks import Webhooks
from models.payment.keys import Actor
from models.payment.polls import Polls
from settings import Settings


@dataclass(frozen=True, slots=True)
class PaymentAdapters:
    """The adapters of handlers: everything that they use except the database."""

    chain: ChainGateway
    development: DevelopmentChains = field(
        default_factory=lambda: RpcDevelopmentChains((), timeout_s=1.0)
    )
    key_uses: KeyUses = field(default_factory=KeyUses)
    polls: Polls = field(default_factory=Polls)
    webhooks: Webhooks = field(default_factory=Webhooks)


Context = specd.Context[PaymentAdapters, Actor, Settings]
"""One request of the payment service."""
