"""EVM chains over JSON-RPC: `gateway` for API requests, `reader` for the watcher, `tokens` for the
operator's commands.

Endpoints are named by position and host only: an RPC URL may contain a key and is never shown.
"""
