"""Bounds on what one client address, and all together, may hold: connections and memory.

An IPv4 address is one client. An IPv6 client usually has a network of 64 bits to itself, so that its
addresses count as one.
"""

import hashlib
import ipaddress
from collections import Counter
from functools import lru_cache

from motorpool.actors.work.networks import parse_address

IPV6_CLIENT_BITS = 64
MAX_NAME_LENGTH = 64
"""Characters; a proxy that is trusted may send any text as an address, which must not fill the memory."""


def client_network(address: str) -> str:
    """Return the name under which an address is counted: itself, or the /64 network of an IPv6 address.

    Any other text is its own name, or its digest if it is long.
    """
    if len(address) > MAX_NAME_LENGTH:
        return hashlib.blake2b(address.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return _network(address)


@lru_cache(maxsize=4096)
def _network(address: str) -> str:
    try:
        parsed = parse_address(address)
    except ValueError:
        return address
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, IPV6_CLIENT_BITS), strict=False))


class ConnectionLimits:
    """Counts open connections in all and for each client.

    The last `reserve` slots go only to clients that have hardly any connection yet, so that one client, or a
    few, cannot keep everybody else out.
    """

    FEW = 2
    """A client with fewer connections may have one of the reserved slots."""

    def __init__(self, *, total: int, per_client: int, reserve: int = 0) -> None:
        self._total = total
        self._per_client = per_client
        self._reserve = reserve
        self._counts: Counter[str] = Counter()
        self._open = 0

    @property
    def open(self) -> int:
        """How many connections are open."""
        return self._open

    def count(self, address: str) -> int:
        """Return how many connections the client of an address has."""
        return self._counts[client_network(address)]

    def admit(self, address: str, *, is_shared: bool = False) -> str:
        """Count a new connection and return an empty text, or return why it is refused.

        `is_shared`: the address belongs to a proxy, whose connections serve many clients.
        """
        client = client_network(address)
        count = self._counts[client]
        if count >= self._per_client and not is_shared:
            return f"{client} has {count} open"
        left = self._total - self._open
        if left <= 0 or (left <= self._reserve and count >= self.FEW and not is_shared):
            return f"{self._open} are open in all"
        self._counts[client] = count + 1
        self._open += 1
        return ""

    def release(self, address: str) -> None:
        """Uncount a connection that was admitted."""
        client = client_network(address)
        self._open -= 1
        if self._counts[client] <= 1:
            del self._counts[client]
        else:
            self._counts[client] -= 1


class MemoryBudget:
    """Bytes that unfinished input may hold in all and for each client."""

    def __init__(self, total: int, per_client: int) -> None:
        self._total = total
        self._per_client = per_client
        self._held: Counter[str] = Counter()
        self.held = 0
        """Bytes in all."""

    def take(self, address: str, size: int) -> bool:
        """Count `size` more bytes, or fewer if negative; return False, and count nothing, past a limit."""
        client = client_network(address)
        of_client = self._held[client] + size
        if size > 0 and (self.held + size > self._total or of_client > self._per_client):
            if not self._held[client]:
                del self._held[client]
            return False
        self.held += size
        if of_client:
            self._held[client] = of_client
        else:
            del self._held[client]
        return True
