"""Outgoing connections: mail, text messages, the geocoder, and HTTP requests to checked addresses."""

from motorpool.actors.outgoing.errors import DeliveryRefused, LimitExceeded, OutgoingError, Unreachable
from motorpool.actors.outgoing.geocoder import Geocoder, GeocoderService
from motorpool.actors.outgoing.guard import AddressGuard
from motorpool.actors.outgoing.http import HttpResponse, OutgoingHttp
from motorpool.actors.outgoing.mail import Mail
from motorpool.actors.outgoing.push import PushoverService, TelegramService
from motorpool.actors.outgoing.services import OutgoingServices
from motorpool.actors.outgoing.sms import Sms, SmsGateway
from motorpool.actors.outgoing.smtp import SmtpAccount

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
