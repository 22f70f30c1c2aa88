"""Operations of the tag chains."""

from datetime import timedelta

from adapters.chain.development import Head
from handlers.payment import types
from handlers.payment.wire.acting import acting
from handlers.payment.wire.context import Context
from models.payment.test_helpers import chains, faults


async def mine_blocks(
    ctx: Context, *, chain_id: int, body: types.BlocksRequest | None = None
) -> types.TestChain:
    """Mine blocks."""
    await _require_chain(ctx, chain_id)
    with acting(chain_id):
        head = await ctx.adapters.development.mine(chain_id, (body or {}).get("count", 1))
    return _chain(chain_id, head)


async def reorganise_chain(
    ctx: Context, *, chain_id: int, body: types.ReorganisationRequest
) -> types.TestChain:
    """Replace the newest blocks with empty blocks."""
    await _require_chain(ctx, chain_id)
    with acting(chain_id):
        head = await ctx.adapters.development.reorganise(chain_id, body["depth"])
    return _chain(chain_id, head)


async def advance_clock(
    ctx: Context, *, chain_id: int, body: types.ClockRequest
) -> types.TestChain:
    """Advance the clock of a chain."""
    await _require_chain(ctx, chain_id)
    with acting(chain_id):
        head = await ctx.adapters.development.advance(chain_id, body["advance_s"])
    return _chain(chain_id, head)


def simulate_faults(
    ctx: Context, *, chain_id: int, body: types.FaultsRequest
) -> types.SimulatedFaults:
    """Simulate failures of the watcher's next calls to a chain."""
    chains.require_chain(ctx.session, project_id=ctx.actor.project_id, chain_id=chain_id)
    kind, calls, lag_ms = faults.Kind(body["kind"]), body["calls"], body.get("lag_ms", 1000)
    faults.put(
        ctx.session,
        faults.chain_target(chain_id),
        kind,
        calls=calls,
        lag=timedelta(milliseconds=lag_ms if kind == faults.Kind.LAG else 0),
        now=ctx.now,
    )
    return {"chain_id": chain_id, "kind": kind.value, "calls": calls}


async def _require_chain(ctx: Context, chain_id: int) -> None:
    project_id = ctx.actor.project_id
    await ctx.read(lambda db: chains.require_chain(db, project_id=project_id, chain_id=chain_id))


def _chain(chain_id: int, head: Head) -> types.TestChain:
    """Return the document's TestChain."""
    return {"chain_id": chain_id, "head_number": head.number, "head_time": head.time_s * 1000}
