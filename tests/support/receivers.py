"""Scripted webhook receivers: name resolution and responses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_address, ip_network

from adapters.webhooks.guarded_network import NameNotResolved
from adapters.webhooks.sender import Received, WebhookSender
from models.webhooks.addresses import Address, AddressRefused, check_url

PUBLIC = "93.184.215.14"
TAKEN = Received(204, None, "", None, 12)
REFUSED = Received(None, "address_refused", "", None, 1)


@dataclass(frozen=True)
class Posted:
    """One request to a receiver."""

    url: str
    headers: Mapping[str, str]
    body: bytes


class ScriptedReceivers(WebhookSender):
    """Responds without a network. A name that is not in `names` resolves to a public address."""

    def __init__(self, *opened: str) -> None:
        self.names: dict[str, Sequence[str]] = {}
        self.answer = TAKEN
        self.posted: list[Posted] = []
        super().__init__([ip_network(network) for network in opened], resolve=self._resolve_name)

    async def _resolve_name(self, host: str, port: int) -> Sequence[Address]:
        found = self.names.get(host, [PUBLIC])
        if not found:
            raise NameNotResolved()
        return [ip_address(address) for address in found]

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Received:
        try:
            check_url(url, self._opened)
        except AddressRefused:
            return REFUSED
        self.posted.append(Posted(url, headers, body))
        return self.answer
