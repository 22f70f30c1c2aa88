"""JSON-RPC over HTTP for the in-process chain."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from eth_utils.hexadecimal import decode_hex, encode_hex

from demo.chain.pyevm import CLIENT, PyEvmChain, Refused
from demo.chain.testnet import CHAIN_ID

_LONGEST_QUESTION = 8 * 1024 * 1024
_IDLE_S = 60

Method = Callable[..., Any]


class RpcMethods:
    """The JSON-RPC methods of a chain. Requests are processed one at a time."""

    def __init__(self, chain: PyEvmChain) -> None:
        self._chain = chain
        self._turn = threading.Lock()
        self._methods: dict[str, Method] = {
            "web3_clientVersion": lambda: CLIENT,
            "net_version": lambda: str(CHAIN_ID),
            "eth_chainId": lambda: hex(CHAIN_ID),
            "eth_syncing": lambda: False,
            "eth_accounts": chain.accounts,
            "eth_blockNumber": lambda: hex(chain.height),
            "eth_gasPrice": lambda: hex(chain.base_fee() + 10**9),
            "eth_maxPriorityFeePerGas": lambda: hex(10**9),
            "eth_getBlockByNumber": self._block,
            "eth_getBlockByHash": lambda block_hash, _=False: chain.block_by_hash(block_hash),
            "eth_getTransactionByHash": chain.transaction,
            "eth_getTransactionReceipt": chain.receipt,
            "eth_getLogs": self._logs,
            "eth_getBalance": lambda who, at="latest": hex(chain.balance(who, self._number(at))),
            "eth_getCode": lambda who, at="latest": encode_hex(chain.code(who, self._number(at))),
            "eth_getTransactionCount": self._nonce,
            "eth_call": lambda sent, at="latest": encode_hex(chain.call(sent, self._number(at))),
            "eth_estimateGas": lambda sent, at="latest": hex(chain.estimate_gas(sent)),
            "eth_sendTransaction": chain.send,
            "eth_sendRawTransaction": lambda raw: chain.send_raw(decode_hex(raw)),
            "evm_mine": self._mine_one,
            "anvil_mine": self._mine,
            "anvil_reorg": lambda depth, _=(): chain.reorg(_quantity(depth)),
            "evm_setAutomine": chain.set_automine,
            "evm_increaseTime": lambda s: hex(chain.increase_time(_quantity(s))),
            "evm_setNextBlockTimestamp": lambda at: chain.set_next_timestamp(_quantity(at)),
        }

    def answer(self, body: bytes) -> bytes:
        """Return the JSON response to a request or a batch of requests."""
        try:
            request = json.loads(body)
        except (ValueError, RecursionError):
            return json.dumps(_error(None, -32700, "Parse error")).encode()
        if isinstance(request, list):
            return json.dumps([self._call(each) for each in request]).encode()
        return json.dumps(self._call(request)).encode()

    def _call(self, request: Any) -> dict[str, Any]:
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            return _error(None, -32600, "Invalid request")
        identity, params = request.get("id"), request.get("params") or []
        method = self._methods.get(request["method"])
        if method is None:
            return _error(identity, -32601, f"Method not found: {request['method'][:100]}")
        try:
            with self._turn:
                return {"jsonrpc": "2.0", "id": identity, "result": method(*params)}
        except Refused as error:
            return _error(identity, error.code, str(error))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            return _error(identity, -32602, f"Invalid params: {error}"[:300])

    def _number(self, at: Any) -> int:
        """Convert a block tag or quantity to a number. Raise `Refused` if it is above the head."""
        if at == "earliest":
            return 0
        if at in ("latest", "pending", "safe", "finalized", None):
            return self._chain.height
        number = _quantity(at)
        if number > self._chain.height:
            raise Refused(
                -32602,
                f"BlockOutOfRangeError: block height is {self._chain.height}"
                f" but requested was {number}",
            )
        return number

    def _block(self, at: Any, full: bool = False) -> dict[str, Any] | None:
        tagged = isinstance(at, str) and not at.startswith("0x")
        block = self._chain.block(self._number(at) if tagged else _quantity(at))
        if block is None or not full:
            return block
        transactions = [self._chain.transaction(tx_hash) for tx_hash in block["transactions"]]
        return {**block, "transactions": transactions}

    def _nonce(self, who: str, at: Any = "latest") -> str:
        return hex(self._chain.nonce(who, None if at == "pending" else self._number(at)))

    def _logs(self, query: dict[str, Any]) -> list[dict[str, Any]]:
        if query.get("blockHash"):
            block = self._chain.block_by_hash(query["blockHash"])
            if block is None:
                raise Refused(-32000, "unknown block")
            first = last = int(block["number"], 16)
        else:
            first = self._number(query.get("fromBlock", "latest"))
            last = self._number(query.get("toBlock", "latest"))
        addresses = _choices(query.get("address"))
        topics = [_choices(topic) for topic in query.get("topics") or []]
        return [
            log
            for log in self._chain.logs(first, last)
            if (addresses is None or log["address"] in addresses)
            and len(log["topics"]) >= len(topics)
            and all(
                wanted is None or topic in wanted
                for wanted, topic in zip(topics, log["topics"], strict=False)
            )
        ]

    def _mine_one(self, _: Any = None) -> str:
        self._chain.mine()
        return "0x0"

    def _mine(self, count: Any = 1, _: Any = None) -> None:
        self._chain.mine(_quantity(count))


def serve(chain: PyEvmChain, port: int) -> ThreadingHTTPServer:
    """Return a server that is bound to 127.0.0.1:`port` and not yet running. Raise OSError."""
    methods = RpcMethods(chain)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = _IDLE_S
        # Headers and body are written separately. With Nagle's algorithm, the body would wait 40 ms
        # for the acknowledgment of the headers.
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            length = self.headers.get("Content-Length", "")
            if not (length.isascii() and length.isdigit()) or int(length) > _LONGEST_QUESTION:
                self.close_connection = True
                self.send_error(413 if length.isdigit() else 411)
                return
            answer = methods.answer(self.rfile.read(int(length)))
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            """Log nothing, because a watcher sends requests every second."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    return Server(("127.0.0.1", port), Handler)


def _quantity(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError("a quantity is needed")
    number = value if isinstance(value, int) else int(value, 16 if value[:2] == "0x" else 10)
    if number < 0:
        raise ValueError("a quantity is not negative")
    return number


def _choices(value: Any) -> set[str] | None:
    """Return the values of a filter's address or topic, or None if all values match."""
    if value is None or value == []:
        return None
    return {each.lower() for each in ([value] if isinstance(value, str) else value)}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message}}
