"""What an HTTP server answered."""

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec

from motorpool.actors.http.errors import DeliveryRefused


@dataclass(frozen=True)
class HttpResponse:
    """A response with its whole content."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    address: str = ""
    """The IP address that answered."""

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return 200 <= self.status < 300

    def json(self) -> object:
        """Return the content parsed as JSON. Raises DeliveryRefused where it is not JSON."""
        try:
            return msgspec.json.decode(self.content)
        except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
            raise DeliveryRefused("the answer is not JSON") from None
