"""EVM chains over JSON-RPC: `gateway` for API requests, `reader` for the watcher, `tokens` for the
operator's commands.

Messages identify endpoints by position and host only, because an RPC URL may contain a key.
"""
