"""Messages to the actor that fetches what footage requests ask for."""

import msgspec

from motorpool.runtime import Kind


class FootageRequestsChanged(msgspec.Struct, frozen=True, gc=False):
    """A request was made or deleted: look now."""


FOOTAGE_REQUESTS: Kind[None, FootageRequestsChanged] = Kind("footage_requests")
