"""The section `[forward]` of the settings."""

from dataclasses import dataclass, replace
from typing import Annotated

from msgspec import Meta

MQTT_PORTS = {"mqtt": 1883, "mqtts": 8883}
"""Default ports of MQTT by the scheme of the URL."""


@dataclass(frozen=True, kw_only=True)
class ForwardSettings:
    """Forwarding of stored positions and events to another server."""

    url: Annotated[str | None, Meta(extra={"form": "forward", "secret": True})] = None
    """Where positions and events are sent: `http://`, `https://`, `mqtt://` or `mqtts://`; unset: nowhere."""
    positions: bool = True
    """Whether positions are sent."""
    events: bool = True
    """Whether events are sent."""
    queue: Annotated[int, Meta(ge=10, le=1_000_000, extra={"unit": "messages"})] = 10_000
    """Most messages that wait in memory; when it is exceeded the oldest are dropped."""
    queue_bytes: Annotated[int, Meta(ge=1 << 20, extra={"unit": "bytes"})] = 64 << 20
    """Most memory of these messages; when it is exceeded the oldest are dropped."""
    seconds: Annotated[float, Meta(ge=1, le=300, extra={"unit": "s"})] = 10.0
    """Limit for connecting, and for the answer to one request."""
    give_up_seconds: Annotated[float, Meta(ge=1, extra={"unit": "s"})] = 3600.0
    """A message that could not be delivered within this time is dropped."""
    connections: Annotated[int, Meta(ge=1, le=64, extra={"unit": "connections"})] = 4
    """HTTP connections; each device's messages use one of them, in order."""
    headers: Annotated[tuple[str, ...], Meta(extra={"secret": True})] = ()
    """Further header lines of HTTP requests: `X-Api-Key: 123`."""
    authorization: Annotated[str | None, Meta(extra={"secret": True})] = None
    """Value of the Authorization header of HTTP requests."""
    mqtt_version: Annotated[str, Meta(extra={"choices": ("5", "3.1.1")})] = "5"
    """Version of MQTT."""
    topic: Annotated[str, Meta(extra={"form": "topic"})] = "motorpool/{uniqueId}/{kind}"
    """Topic of MQTT messages; {uniqueId} and {deviceId} are the device's, {kind} is `position` or `event`."""
    qos: Annotated[int, Meta(ge=0, le=1)] = 1
    """Quality of service of MQTT messages: 1: repeated until the broker confirms, 0: sent once."""
    client_id: str | None = None
    """Client identifier at the MQTT broker; servers of a cluster append their number. Unset: random."""
    username: str | None = None
    """User name at the MQTT broker."""
    password: Annotated[str | None, Meta(extra={"secret": True})] = None
    """Password of that user."""
    device_urls: bool = False
    """Whether the attribute `forward.url` of a device is a further HTTP URL that its messages are sent to.
    Anyone who may edit the device may set it; private networks need `webhook.allow`."""

    def of_server(self, node: int) -> "ForwardSettings":
        """Return the settings of a server of a cluster by its number.

        A broker ends the connection of a client when another one of the same identifier connects: servers
        with one configuration would take turns for ever.
        """
        return replace(self, client_id=f"{self.client_id}-{node}") if self.client_id else self
