"""What every request may need: actors, tables, settings, and what is kept in memory between requests."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

import trio

from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.actors.cluster.shared_attempts import SharedAttempts
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.files.media_files import MediaFiles
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.changes import (
    CHANGES,
    COMMITTED_CHANGES,
    CalendarChanged,
    Change,
    DeviceChanged,
    DeviceMoved,
    EverythingChanged,
    GroupChanged,
    LinkChanged,
    ServerChanged,
    SessionEnded,
    TokenRevoked,
    UserChanged,
)
from motorpool.actors.reports.sources import Sources
from motorpool.actors.work.networks import Networks
from motorpool.actors.work.row_cache import RowCache
from motorpool.api.auth.login_services import LoginServices
from motorpool.api.auth.passwords import PasswordHasher
from motorpool.api.auth.signing_keys import SigningKeys
from motorpool.api.configuration.live import LiveSettings
from motorpool.api.device_json import DeviceJsonCache
from motorpool.api.http.origins import Origins
from motorpool.api.nodes.machine import Machine
from motorpool.api.position_json import PositionJsonCache
from motorpool.api.request_limits import RequestLimits
from motorpool.api.settings import Settings
from motorpool.api.stored_server import StoredServer
from motorpool.runtime import Link, LoopStalls, Signal, System
from motorpool.storage.database.database import Database
from motorpool.storage.database.tables import Versioned
from motorpool.storage.devices import devices
from motorpool.storage.records import Device, ServerSettings

MAX_DEVICES = 50_000
"""Rows of devices that are cached: about 50 MB."""
DEVICE_MAX_AGE_SECONDS = 3600.0


@dataclass(kw_only=True)
class Lifetime:
    """The start and the stop of one running server."""

    started: datetime
    """By the wall clock."""
    closing: trio.Event = field(default_factory=trio.Event)
    """Set when the server begins to stop, for requests that never end by themselves."""
    changes: set[trio.CancelScope] = field(default_factory=set)
    """Shields of the changes that are being served; the stop of the server gives them a deadline."""
    restart_requested: Signal = field(default_factory=Signal)
    """Set to make the program stop and start again."""


@dataclass(kw_only=True)
class HelpdeskServices:
    """What requests about tickets share."""

    business_calendars: BusinessCalendars
    """Business hours of ticket priorities."""
    ticket_mails: TicketMails
    """Mails to the assignees of tickets."""
    keys_in_progress: dict[tuple[int, str, str], trio.Event] = field(default_factory=dict)
    """Requests with Idempotency-Key that are being served, by user, key and path; set when they have been."""


class ServerContext:
    """One running server, as requests see it."""

    def __init__(
        self,
        *,
        system: System,
        database: Database,
        live: LiveSettings,
        passwords: PasswordHasher,
        token_keys: SigningKeys,
        server: ServerSettings,
        files: MediaFiles,
        outgoing: OutgoingServices,
        setup_token: str | None = None,
        restart_requested: Signal | None = None,
        single_node: int | None = None,
        shared_attempts: SharedAttempts | None = None,
        home_finder: HomeFinder | None = None,
        machine: Machine | None = None,
        link: Link | None = None,
        loop_stalls: LoopStalls | None = None,
    ) -> None:
        """Make what requests share, and have the caches follow the change feed.

        `single_node` is the number of a server that is alone, None in a cluster. `shared_attempts` counts
        limited attempts for all servers of a cluster; None if there is one.
        """
        self.system = system
        self.database = database
        self.live = live
        """The settings, which are changed while the server runs."""
        settings = live.settings
        self.outgoing = outgoing
        """Mail, text messages, the geocoder and HTTP to other servers."""
        self.single_node = single_node
        """The number of this server in the database where it is alone; None in a cluster."""
        self.home_finder = home_finder
        """Where devices are that another server serves; None where no request is forwarded."""
        self.machine = machine
        """The servers of the machine under one supervisor; None where there is none."""
        self.link = link
        """To the other servers of the cluster, if there is one."""
        self.files = files
        """Files of devices, which devices and users add."""
        self.loop_stalls = loop_stalls or LoopStalls()
        """Stalls of the event loop, measured by the program."""
        self.clock = clock = system.clock
        """The clock of the actor system; tests set it."""
        self.lifetime = Lifetime(started=clock.now())
        if restart_requested is not None:
            self.lifetime.restart_requested = restart_requested
        self.logins = LoginServices(
            database,
            live,
            clock,
            outgoing.http,
            passwords=passwords,
            token_keys=token_keys,
            setup_token=setup_token,
            shared=shared_attempts,
        )
        self.limits = RequestLimits(settings, clock, shared_attempts)
        self.helpdesk = HelpdeskServices(
            business_calendars=BusinessCalendars(timedelta(days=settings.tickets.horizon_days)),
            ticket_mails=TicketMails(outgoing.mail, settings.public_url),
        )
        self.stored_server = StoredServer(database, clock, server)
        self.trusted_proxies = Networks(settings.http.trusted_proxies)
        """The proxies whose headers about their clients are believed."""
        self.cors_origins = Origins(settings.http.cors_origin)
        """The origins whose pages may use the API from a browser."""
        self.reports = Sources(system=system, database=database, geocoder=lambda: outgoing.geocoder)
        """What reports are made from."""
        self.devices = RowCache[int, Versioned[Device]](
            partial(devices.TABLE.fetch_many_versioned, database),
            max_rows=MAX_DEVICES,
            max_age_seconds=DEVICE_MAX_AGE_SECONDS,
            monotonic=clock.monotonic,
        )
        """Rows of devices by id."""
        self.device_json = DeviceJsonCache()
        """Devices as clients get them, with their status."""
        self.bare_device_json = DeviceJsonCache(bare=True)
        """The same without their attributes."""
        self.position_json = PositionJsonCache()
        """Positions as clients get them."""
        self.rights_changes = 0
        """How often anything was changed that rights depend on: long requests check theirs again."""
        system.topic(COMMITTED_CHANGES).listen(self._drop_changed_rows)
        # Counted again when all followers have applied it: what was checked in between may be stale.
        system.topic(COMMITTED_CHANGES).listen(self._count_changes_of_rights)
        system.topic(CHANGES).listen(self._count_changes_of_rights)

    @property
    def settings(self) -> Settings:
        """The settings in use: not to be kept, as they may be replaced."""
        return self.live.settings

    @property
    def server(self) -> ServerSettings:
        """The server's settings as last read."""
        return self.stored_server.settings

    def _drop_changed_rows(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case DeviceChanged():
                    self.devices.invalidate(change.id)
                case GroupChanged(operation="deleted") | CalendarChanged(operation="deleted"):
                    # Rows of devices lose a group or calendar that is deleted.
                    self.devices.clear()
                case UserChanged() | SessionEnded() | TokenRevoked():
                    self.logins.accounts.apply(change)
                case ServerChanged():
                    self.stored_server.note_change()
                case DeviceMoved() if self.home_finder is not None:
                    self.home_finder.forget(change.device_id)
                case EverythingChanged():
                    if self.home_finder is not None:
                        self.home_finder.forget_all()
                    self.stored_server.note_change()
                    self.devices.clear()
                    self.logins.accounts.clear()
                case _:
                    pass

    def _count_changes_of_rights(self, changes: tuple[Change, ...]) -> None:
        for change in changes:
            match change:
                case DeviceChanged() | GroupChanged():
                    self.rights_changes += change.affects_visibility
                case UserChanged() | LinkChanged() | SessionEnded() | TokenRevoked() | EverythingChanged():
                    self.rights_changes += 1
                case _:
                    pass
