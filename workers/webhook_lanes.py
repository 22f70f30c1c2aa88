"""The running requests of a worker, and its remaining capacity, by endpoint.

An endpoint that is slow, or whose last request failed, gets only one request at a time, and all
such endpoints together get at most half of the capacity. So the other half remains available for
fast endpoints.

Each fast, successful response allows its endpoint one more concurrent request, so that a backlog is
sent as fast as the endpoint accepts it. Requests beyond the endpoint's share use at most half of
the capacity. The other half remains available for the shares of other endpoints.
"""

import time
from collections import defaultdict
from collections.abc import Collection, Mapping

MOST = 256
MAX_SLOW = MOST // 2
PER_ENDPOINT = 8
"""The share of an endpoint: the initial limit of its concurrent requests."""
MAX_PER_ENDPOINT = 32
MAX_BEYOND_SHARES = MOST // 2
"""The maximum number of running requests at which an endpoint may exceed its share."""
AT_ONCE_S = 0.25
"""A slower request resets the limit of its endpoint to its share."""
SLOW_S = 2.0
"""A slower request marks its endpoint as slow."""


class Lanes:
    """The running requests of a worker. Use it only in the worker's thread."""

    def __init__(self) -> None:
        self._under_way: dict[str, dict[int, float]] = defaultdict(dict)
        self._slow: set[str] = set()
        self._widths: dict[str, int] = {}
        """The limits of endpoints that may exceed their share."""

    def begin(self, endpoint_id: str, event_id: int) -> None:
        """Record the start of a request."""
        self._under_way[endpoint_id][event_id] = time.monotonic()

    def end(self, endpoint_id: str, event_id: int, *, is_taken: bool, seconds: float) -> None:
        """Record the end of a request after `seconds`."""
        its = self._under_way[endpoint_id]
        its.pop(event_id, None)
        if not its:
            del self._under_way[endpoint_id]
        if is_taken and seconds < SLOW_S:
            self._slow.discard(endpoint_id)
        else:
            self._slow.add(endpoint_id)
        if is_taken and seconds < AT_ONCE_S:
            width = self._widths.get(endpoint_id, PER_ENDPOINT) + 1
            self._widths[endpoint_id] = min(width, MAX_PER_ENDPOINT)
        else:
            self._widths.pop(endpoint_id, None)

    def note_failing(self, endpoint_ids: Collection[str]) -> None:
        """Mark endpoints as slow because their last request failed."""
        self._slow.update(endpoint_ids)

    @property
    def count(self) -> int:
        """The number of running requests."""
        return sum(map(len, self._under_way.values()))

    def busy(self) -> Collection[str]:
        """Return the endpoints with running requests."""
        return set(self._under_way)

    def full_slow(self) -> Collection[str]:
        """Return the slow endpoints without remaining capacity."""
        capacity = self.capacity()
        return {id_ for id_ in self._slow if capacity.left(id_, is_failing=True) == 0}

    def full(self) -> Collection[str]:
        """Return all endpoints without remaining capacity."""
        capacity = self.capacity()
        known = {*self._under_way, *self._slow}
        return {id_ for id_ in known if capacity.left(id_, is_failing=False) == 0}

    def capacity(self) -> "LaneCapacity":
        """Return the remaining capacity."""
        late = time.monotonic() - SLOW_S
        slow = self._slow | {
            name for name, its in self._under_way.items() if min(its.values()) < late
        }
        under_way = {name: set(its) for name, its in self._under_way.items()}
        return LaneCapacity(under_way, slow, self._widths)


class LaneCapacity:
    """The remaining capacity for one transaction (`models.payment.webhooks.rounds.Capacity`)."""

    def __init__(
        self, under_way: dict[str, set[int]], slow: set[str], widths: Mapping[str, int]
    ) -> None:
        self._under_way, self._slow, self._widths = under_way, slow, widths
        self._counts = {name: len(events) for name, events in under_way.items()}
        self._all = sum(self._counts.values())
        self._all_slow = sum(count for name, count in self._counts.items() if name in slow)

    def under_way(self, endpoint_id: str) -> Collection[int]:
        return self._under_way.get(endpoint_id, set())

    def left(self, endpoint_id: str, *, is_failing: bool) -> int:
        its = self._counts.get(endpoint_id, 0)
        if is_failing or endpoint_id in self._slow:
            return max(0, min(1 - its, MAX_SLOW - self._all_slow, MOST - self._all))
        width = self._widths.get(endpoint_id, PER_ENDPOINT)
        share = min(PER_ENDPOINT - its, MOST - self._all)
        return max(0, share, min(width - its, MAX_BEYOND_SHARES - self._all))

    def use(self, endpoint_id: str, count: int, *, is_failing: bool) -> None:
        self._counts[endpoint_id] = self._counts.get(endpoint_id, 0) + count
        self._all += count
        if is_failing or endpoint_id in self._slow:
            self._all_slow += count
