"""Configured networks, and whether an address belongs to one of them."""

import ipaddress


class Networks:
    """Networks of IPv4 and IPv6, parsed once."""

    def __init__(self, networks: tuple[str, ...] = ()) -> None:
        """Parse texts such as `10.0.0.0/8`. Raises ValueError."""
        self._networks = [ipaddress.ip_network(network, strict=False) for network in networks]

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._networks)

    def __contains__(self, address: str) -> bool:
        """Whether an address, as a socket has it, lies in one of them; no other text does."""
        if not self._networks:
            return False
        try:
            parsed = parse_address(address)
        except ValueError:
            return False
        return any(parsed in network for network in self._networks)


def parse_address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    """Return an address as a socket has it, without its zone; an IPv4 address in the form of IPv6 as IPv4.

    Raises:
        ValueError: it is no address.
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return (address.version == 6 and address.ipv4_mapped) or address
