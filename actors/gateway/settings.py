"""Settings of the device ports and connections."""

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta


@dataclass(frozen=True, kw_only=True)
class DeviceSettings:
    """The device ports and the timeouts of device connections."""

    host: str = "0.0.0.0"  # noqa: S104 - devices come from outside
    """Address that the device ports listen on."""
    connections: Annotated[int, Meta(ge=16, extra={"unit": "connections"})] = 100_000
    """Most connections to all device ports, as far as five eighths of the limit of open files allow. The
    last tenth is for addresses with at most one. As many addresses again may send datagrams."""
    connections_per_address: Annotated[int, Meta(ge=1, extra={"unit": "connections"})] = 20000
    """Most connections from one address (IPv6: one /64 network) to all device ports, and most of its ports
    that may send datagrams."""
    proxy_protocol: bool = False
    """Whether connections from `trusted_proxies` begin with a PROXY header, version 1 or 2, whose address
    counts as the device's; other connections and datagrams have none."""
    trusted_proxies: Annotated[tuple[str, ...], Meta(extra={"form": "networks"})] = ()
    """Networks of the TCP proxies in front of the device ports and media ports; with `proxy_protocol`."""
    binding: Annotated[str, Meta(extra={"choices": ("none", "protocol", "registration")})] = "protocol"
    """What is refused of a device beside unknown names: `protocol` other protocols than the one that it is
    bound to, `registration` also another manufacturer, model or terminal id in a JT/T 808 registration,
    `none` nothing. The attribute `device.binding` of the server, a group or a device takes precedence."""
    idle_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 1800.0
    """A device connection without a message is closed after this time."""
    login_seconds: Annotated[float, Meta(ge=0.1, extra={"unit": "s"})] = 30.0
    """A new device connection must identify its device within this time."""
    status_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 600.0
    """The status of a device without a message becomes `unknown` after this time."""
    strict_checksums: bool = False
    """Whether frames with a wrong check value are dropped also where their protocol has devices that
    calculate it wrongly; such frames are decoded and counted otherwise."""
    keep_unknown_messages: bool = False
    """Whether a message that the codec does not know is stored as a position with the attribute `raw`, in
    hexadecimal digits; at most 1,024 bytes of it. Items of JT/T 808 locations that are not known become
    attributes such as `item0xE3`, with at most 32 bytes each."""
    protocol_attributes: Annotated[tuple[str, ...], Meta(extra={"form": "protocolAttributes"})] = ()
    """Attributes of protocols for all devices, as `key=value` separated by commas, such as `h02.ack=true`;
    attributes of the server, a group or a device take precedence."""


@dataclass(frozen=True, kw_only=True)
class PortSettings:
    """The numbers of the device ports."""

    offset: Annotated[int, Meta(ge=0, le=50000)] = 0
    """Number added to every device port, so that several servers can run on one machine."""


@dataclass(frozen=True, kw_only=True)
class RegisterSettings:
    """Registration of unknown devices."""

    unknown: bool = False
    """Whether an unknown device is registered when it first reports, linked to the oldest administrator."""
    max_devices: Annotated[int, Meta(ge=1, le=10_000_000)] = 100_000
    """No unknown device is registered while there are this many devices in all."""
