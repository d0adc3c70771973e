"""Outgoing messages: what each notificator sends, and the queue that it is sent from."""

from motorpool.actors.deliveries.services import OutgoingServices
from motorpool.actors.deliveries.smtp import SmtpAccount
from motorpool.actors.geocoding.geocoder import Geocoder, GeocoderService
from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.http.errors import DeliveryRefused, LimitExceeded, OutgoingError, Unreachable
from motorpool.actors.http.http import OutgoingHttp
from motorpool.actors.http.response import HttpResponse

__all__ = ["LimitExceeded", "OutgoingServices"]
