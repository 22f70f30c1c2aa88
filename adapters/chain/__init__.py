"""EVM chains as this project meets them: asking a chain, reading it, and running a local one.

`gateway` answers an API request's one question (is the chain there?), `reader` is what the watcher
reads, `fake` is the reader in memory, `embedded` runs a local chain and `playground` acts on one.
Endpoints are named by position and host only: an RPC URL may hold a key and is never shown.
"""
