"""The outgoing services of a server, built from its settings."""

from collections.abc import Callable

import trio

from motorpool.actors.outgoing.geocoder import Geocoder, GeocoderService
from motorpool.actors.outgoing.guard import OwnServer
from motorpool.actors.outgoing.http import OutgoingHttp
from motorpool.actors.outgoing.mail import Mail
from motorpool.actors.outgoing.sms import Sms, SmsGateway
from motorpool.actors.outgoing.smtp import SmtpAccount

__all__ = ["OutgoingServices"]


class OutgoingServices:
    """Mail, text messages, the geocoder and outgoing HTTP; nothing of it must be closed.

    Args:
        allow: private networks that users' URLs may lead to, in CIDR notation.
        own: where the server is reached from outside; users' URLs may not lead there either.
        mail: the server's own mail account; without one only users with their own account get mail.
        sms: the SMS gateway; without one no text message is sent.
        geocoder: the geocoder; without one `geocoder` is None.
        monotonic: the clock of the rate limits.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = (),
        own: OwnServer | None = None,
        mail: SmtpAccount | None = None,
        sms: SmsGateway | None = None,
        geocoder: GeocoderService | None = None,
        monotonic: Callable[[], float] = trio.current_time,
    ) -> None:
        self.http = OutgoingHttp(allow, own=own)
        self.mail = Mail(self.http, mail)
        self.sms = Sms(self.http, sms, monotonic)
        self.geocoder = Geocoder(self.http, geocoder, monotonic) if geocoder is not None else None
