"""Outgoing connections: mail, text messages, the geocoder, and HTTP requests to checked addresses."""

from motorpool.actors.deliveries.mail import Mail
from motorpool.actors.deliveries.push import PushoverService, TelegramService
from motorpool.actors.deliveries.services import OutgoingServices
from motorpool.actors.deliveries.sms import Sms, SmsGateway
from motorpool.actors.deliveries.smtp import SmtpAccount
from motorpool.actors.geocoding.geocoder import Geocoder, GeocoderService
from motorpool.actors.http.address_guard import AddressGuard
from motorpool.actors.http.errors import DeliveryRefused, LimitExceeded, OutgoingError, Unreachable
from motorpool.actors.http.http import HttpResponse, OutgoingHttp

__all__ = [
    "AddressGuard",
    "DeliveryRefused",
    "Geocoder",
    "GeocoderService",
    "HttpResponse",
    "LimitExceeded",
    "Mail",
    "OutgoingError",
    "OutgoingHttp",
    "OutgoingServices",
    "PushoverService",
    "Sms",
    "SmsGateway",
    "SmtpAccount",
    "TelegramService",
    "Unreachable",
]
