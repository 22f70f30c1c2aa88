"""Work with passwords, off the event loop and in threads of its own."""

from models.chat.identity.passwords import HASHES_AT_ONCE
from server.pools import Pool

NICENESS = 10
"""A hash runs on four threads of its own, which are as nice as the one that asks for it: with two
hashes in each process the event loop would wait for a processor.
"""

HASHES = Pool("hashes", HASHES_AT_ONCE, niceness=NICENESS)
run_hashing = HASHES.run
"""Some 50 ms by design, for each hash in the work. Holds no connection and no lock."""
