"""The outgoing services of a server, built from its settings."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, cast

import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries.notificator import Network, Notificator
from motorpool.actors.deliveries.notificators import NOTIFICATORS
from motorpool.actors.deliveries.notificators.mail import Mail
from motorpool.actors.deliveries.notificators.sms import Sms
from motorpool.actors.deliveries.webhook import Webhooks
from motorpool.actors.geocoding.geocoder import Geocoder
from motorpool.actors.geocoding.settings import GeocoderSettings
from motorpool.actors.http.address_guard import OwnServer
from motorpool.actors.http.http import OutgoingHttp

MAX_WEBHOOKS = 64
"""Maximum concurrent requests to webhooks."""


class OutgoingServices:
    """The notificators, the geocoder and outgoing HTTP; nothing of it must be closed.

    Args:
        allow: private networks that URLs of users may lead to, in CIDR notation.
        own: the addresses of this server, which URLs of users may not lead to.
        geocoder: the geocoder; without one, or without its type, `geocoder` is None.
        version: version of the program, sent to webhooks.
        monotonic: the clock of the rate limits.
        shared: counts text messages of all servers of a cluster; None without a cluster.
        sections: the settings of notificators by name; defaults for those left out.
    """

    def __init__(
        self,
        *,
        allow: tuple[str, ...] = (),
        own: OwnServer | None = None,
        geocoder: GeocoderSettings | None = None,
        version: str = "",
        monotonic: Callable[[], float] = trio.current_time,
        shared: SharedAttempts | None = None,
        **sections: object,
    ) -> None:
        self.http = OutgoingHttp(allow, own=own)
        # With slots of their own, since many receivers may be slow.
        network = Network(
            http=self.http,
            webhooks=self._webhooks(allow, own, version),
            monotonic=monotonic,
            shared=shared,
        )
        self.ticket_webhooks = self._webhooks(allow, own, version)
        self._monotonic = monotonic
        self.geocoder: Geocoder | None = None
        """Looks up addresses; another one after a change of its settings, so it is not to be kept."""
        self._set_geocoder(geocoder or GeocoderSettings(), trusted=True)
        self.notificators: dict[str, Notificator] = {
            each.name: each(sections.get(each.name, each.settings and each.settings()), network)
            for each in NOTIFICATORS
        }
        """By name, in the order in which they are listed."""
        self._configured: dict[str, tuple[object, bool]] = {}
        self.mail = cast("Mail", self.notificators[Mail.name])
        self.sms = cast("Sms", self.notificators[Sms.name])

    def configure(self, sections: Mapping[str, Any], unvouched: Collection[str]) -> None:
        """Use other settings of notificators and of the geocoder from now on, by the names of their sections.

        Addresses in the sections of `unvouched` are bound by `webhook.allow`.
        """
        for name, settings in sections.items():
            present = settings, name in unvouched
            if present == self._configured.get(name):
                continue
            self._configured[name] = present
            configure = self._set_geocoder if name == "geocoder" else self.notificators[name].configure
            configure(settings, trusted=name not in unvouched)

    def _set_geocoder(self, settings: GeocoderSettings, *, trusted: bool) -> None:
        is_there = settings.type is not None
        self.geocoder = Geocoder(self.http, settings, self._monotonic, trusted=trusted) if is_there else None

    @staticmethod
    def _webhooks(allow: tuple[str, ...], own: OwnServer | None, version: str) -> Webhooks:
        http = OutgoingHttp(allow, own=own, max_concurrent=MAX_WEBHOOKS)
        return Webhooks(http, f"motorpool/{version}" if version else "motorpool")
