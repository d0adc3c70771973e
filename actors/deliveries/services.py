"""The outgoing services of a server, built from its settings."""

from collections.abc import Callable

import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries.mail import Mail
from motorpool.actors.deliveries.push import Pushover, PushoverService, Telegram, TelegramService
from motorpool.actors.deliveries.sms import Sms, SmsGateway
from motorpool.actors.deliveries.smtp import SmtpAccount
from motorpool.actors.deliveries.webhook import Webhooks
from motorpool.actors.geocoding.geocoder import Geocoder, GeocoderService
from motorpool.actors.http.address_guard import OwnServer
from motorpool.actors.http.http import OutgoingHttp

MAX_WEBHOOKS = 64
"""Most requests to webhooks at the same time."""


class OutgoingServices:
    """Mail, text messages, the geocoder and outgoing HTTP; nothing of it must be closed.

    Args:
        allow: private networks that users' URLs may lead to, in CIDR notation.
        own: where the server is reached from outside; users' URLs may not lead there either.
        mail: the server's own mail account; without one only users with their own account get mail.
        sms: the SMS gateway; without one no text message is sent.
        geocoder: the geocoder; without one `geocoder` is None.
        telegram: the bot of Telegram; without one no message is sent there.
        pushover: the application of Pushover; likewise.
        version: of the program, which webhooks learn.
        monotonic: the clock of the rate limits.
        shared: counts text messages for all servers of a cluster; None if there is one.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = (),
        own: OwnServer | None = None,
        mail: SmtpAccount | None = None,
        sms: SmsGateway | None = None,
        geocoder: GeocoderService | None = None,
        telegram: TelegramService | None = None,
        pushover: PushoverService | None = None,
        version: str = "",
        monotonic: Callable[[], float] = trio.current_time,
        shared: SharedAttempts | None = None,
    ) -> None:
        self.http = OutgoingHttp(allow, own=own)
        self.mail = Mail(self.http, mail)
        self.sms = Sms(self.http, sms, monotonic, shared)
        self.telegram = Telegram(self.http, telegram)
        self.pushover = Pushover(self.http, pushover)
        # Requests of their own, because many receivers may be slow.
        self.webhooks = self._webhooks(allow, own, version)
        self.ticket_webhooks = self._webhooks(allow, own, version)
        self.geocoder = Geocoder(self.http, geocoder, monotonic) if geocoder is not None else None

    @staticmethod
    def _webhooks(allow: tuple[str, ...], own: OwnServer | None, version: str) -> Webhooks:
        http = OutgoingHttp(allow, own=own, max_concurrent=MAX_WEBHOOKS)
        return Webhooks(http, f"motorpool/{version}" if version else "motorpool")
