"""A payment server to drive: a merchant with a method on a running chain, and another merchant."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy.orm import Session

from demo.chain.anvil import find_anvil
from models.payment.settlement import apply_settlement
from specd._db import migrate
from specd.db import Database
from tests.contract.sdk.stage import Stage, write_facts
from tests.live.chain_fixture import running_anvil, running_pyevm
from tests.live.running_server import RunningServer
from tests.support.payment.factories import (
    ADA_XPUB,
    BEN_XPUB,
    make_invoice,
    make_merchant,
    make_payment,
)


@contextmanager
def payment_stage(directory: Path) -> Iterator[Stage]:
    """Yield the stage of Ada, who uses the SDK, and Ben, who must not see her data.

    Ada has a paid invoice and a newer, unpaid one. Facts: `base_url`; `payment_method_id`,
    `chain_id`, `token_symbol`; `callers`: both, and an unknown caller.
    """
    database_url = f"sqlite:///{directory}/payment.db"
    migrate.upgrade(database_url, "payment")
    database = Database(database_url)
    now = datetime.now(UTC)

    def work(session: Session) -> tuple[str, str]:
        ada = make_merchant(session, now=now, xpub=ADA_XPUB)
        ben = make_merchant(session, now=now, name="Ben's Records", xpub=BEN_XPUB)
        paid = make_invoice(session, ada, now=now - timedelta(minutes=1))
        make_payment(session, paid.id, at=now)
        apply_settlement(session, paid.id, head_number=200, checkpoint_time=now, now=now)
        make_invoice(session, ada, now=now)
        return ada.key, ben.key

    key, peer_key = database.run(work)
    database.dispose()
    with ExitStack() as stack:
        has_anvil = find_anvil(os.environ.get("SPECD_ANVIL", "")) is not None
        chain = stack.enter_context(running_anvil() if has_anvil else running_pyevm())
        environment = {
            "SPECD_CHAIN_RPC_URLS": chain.url,
            "SPECD_WORKERS": "1",
            "SPECD_PAYMENT_TEST_HELPERS": "on",
        }
        server = stack.enter_context(RunningServer(directory, environment))
        facts = {
            "base_url": server.url,
            "payment_method_id": "tusd-local",
            "chain_id": 31337,
            "token_symbol": "TUSD",
            "callers": {
                "ada": {"token": key},
                "ben": {"token": peer_key},
                "stranger": {"token": "prk_test_nobody"},
            },
        }
        yield Stage("payment", server, write_facts(directory, facts))
