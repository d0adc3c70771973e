"""All ways out together, as one server has them."""

from collections.abc import Callable

import trio

from motorpool.actors.outgoing.geocoder import Geocoder, GeocoderService
from motorpool.actors.outgoing.http import OutgoingHttp
from motorpool.actors.outgoing.mail import Mail
from motorpool.actors.outgoing.sms import Sms, SmsGateway
from motorpool.actors.outgoing.smtp import SmtpAccount

__all__ = ["OutgoingServices"]


class OutgoingServices:
    """What actors and requests send by; nothing in it has to be closed."""

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = (),
        mail: SmtpAccount | None = None,
        sms: SmsGateway | None = None,
        geocoder: GeocoderService | None = None,
        monotonic: Callable[[], float] = trio.current_time,
    ) -> None:
        self.http = OutgoingHttp(allow)
        self.mail = Mail(self.http, mail)
        self.sms = Sms(self.http, sms)
        self.geocoder = Geocoder(self.http, geocoder, monotonic) if geocoder is not None else None
