"""Converts errors of chain operations into errors of the domain."""

from collections.abc import Generator
from contextlib import contextmanager

from adapters.chain.development import NodeRefuses
from adapters.chain.gateway import ChainUnreachable, NoEndpoint
from models.payment.errors import ChainNotConfigured, ChainUnavailable
from models.payment.test_helpers.errors import ChainIsNoTestBench


@contextmanager
def acting(chain_id: int) -> Generator[None]:
    """Convert errors to `ChainNotConfigured`, `ChainUnavailable` or `ChainIsNoTestBench`."""
    try:
        yield
    except NoEndpoint:
        raise ChainNotConfigured(chain_id=chain_id) from None
    except ChainUnreachable:
        raise ChainUnavailable(chain_id=chain_id) from None
    except NodeRefuses as refusal:
        raise ChainIsNoTestBench(chain_id=chain_id, problem=str(refusal)) from None
