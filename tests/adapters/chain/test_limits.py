"""Errors by which providers request a smaller block range, and similar errors."""

import pytest

from adapters.chain.limits import is_range_too_large


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32005, "query returned more than 10000 results. Try with this block range [0x1, 0x2]."),
        (-32005, "query returned more than 10000 results"),
        (-32005, "limit exceeded"),
        (-32602, "Log response size exceeded. You can make eth_getLogs requests with up to a 2K"
                 " block range and no limit on the response size"),
        (-32600, "Under the Free tier plan, you can make eth_getLogs requests with up to a 10"
                 " block range."),
        (-32614, "eth_getLogs is limited to a 10,000 range"),
        (-32600, "block range is too wide"),
        (-32062, "Block range is too large"),
        (-32047, "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range:"
                 " 800"),
        (-32005, "exceed maximum block range: 5000"),
        (-32000, "exceed maximum block range: 50000"),
        (-32000, "requested too many blocks from 0 to 100000, maximum is set to 2048"),
        (-32602, "query exceeds max block range 100000"),
        (-32602, "query exceeds max results 20000, retry with the range 1-500"),
        (35, "ranges over 10000 blocks are not supported on freetier"),
        (-32000, "block range greater than 10000 max"),
        (-32602, "Block range limit exceeded. See more details at https://docs.example"),
        (-32000, "eth_getLogs is limited to 0 - 10000 blocks range"),
        (-32000, "query timeout exceeded"),
        (-32020, "backend response too large"),
        (-32000, "range of blocks is too wide: limit 500"),
    ],
)  # fmt: skip
def test_range_error_is_recognized(code: int, message: str) -> None:
    assert is_range_too_large(code, message)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32005, "daily request count exceeded, request rate limited"),
        (-32005, "project ID request rate exceeded"),
        (-32005, "Too Many Requests"),
        (429, "Your app has exceeded its compute units per second capacity."),
        (-32602, "block range extends beyond current head block"),
        (-32602, "BlockOutOfRangeError: block height is 2 but requested was 5"),
        (-32000, "invalid block range params"),
        (-32000, "header not found"),
        (-32000, "unknown block"),
        (-32601, "the method eth_getLogs does not exist/is not available"),
        (-32603, "internal error"),
        (0, "no message"),
    ],
)
def test_other_error_is_not_a_range_error(code: int, message: str) -> None:
    assert not is_range_too_large(code, message)
