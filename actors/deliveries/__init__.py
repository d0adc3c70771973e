"""Outgoing messages: what each notificator sends, and the queue that it is sent from."""

from motorpool.actors.deliveries.services import OutgoingServices
from motorpool.actors.http.errors import LimitExceeded

__all__ = ["LimitExceeded", "OutgoingServices"]
