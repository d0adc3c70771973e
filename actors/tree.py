"""The supervision tree: each child depends only on those above it.

Children start from top to bottom and stop from bottom to top; a crash restarts the children below it. Actors
on which no others depend are in supervisors that never give up (`intensity=None`), so that their crash costs
nothing else and never ends the program (docs/supervision.md).
"""

import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from motorpool.actors.accounts.access import Access
from motorpool.actors.cluster.broadcasts import LinkBroadcasts, NotifyBroadcasts
from motorpool.actors.cluster.change_relay import ChangeRelay
from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.cluster.duties import Duties
from motorpool.actors.cluster.home_finder import HomeFinder
from motorpool.actors.cluster.homes import Homes
from motorpool.actors.cluster.link_server import LinkServer
from motorpool.actors.cluster.live_relay import CHANNEL as LIVE_CHANNEL
from motorpool.actors.cluster.live_relay import LiveRelay
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import OUTBOX, Outbox
from motorpool.actors.deliveries.text_channel import TextChannel
from motorpool.actors.devices.command_log import CommandLog
from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.device_loader import DEVICE_LOADER, DeviceLoader
from motorpool.actors.devices.directory import Directory
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import POSITION_WRITER, PositionWriter
from motorpool.actors.devices.protocol_attributes import read_assignments
from motorpool.actors.devices.rule_cache import RuleCache, RuleCacheActor
from motorpool.actors.events.notifier import Notifier
from motorpool.actors.files.media_files import MediaFiles, open_media_files
from motorpool.actors.files.uploads import UploadStorage
from motorpool.actors.footage.footage_requests import FootageRequests
from motorpool.actors.forwarding.forwarder import Forwarder
from motorpool.actors.gateway.datagram_listener import DatagramListener
from motorpool.actors.gateway.deadlines import check_seconds
from motorpool.actors.gateway.device_connection import DeviceConnection
from motorpool.actors.gateway.hub import Hub, HubActor, open_hub
from motorpool.actors.gateway.identity import IDENTIFICATION, Identification
from motorpool.actors.gateway.inherited_sockets import InheritedSockets
from motorpool.actors.gateway.listener import DevicePort, Listener
from motorpool.actors.gateway.media_connection import MediaConnection
from motorpool.actors.gateway.port_guard import datagram_guard, device_guard, media_guard
from motorpool.actors.gateway.recorder import RECORDER, Recorder
from motorpool.actors.gateway.shared_pauses import SharedPauses
from motorpool.actors.gateway.shared_ports import SharedPorts, enabled_protocols
from motorpool.actors.gateway.talk_connection import TalkConnection
from motorpool.actors.geocoding.position_addresses import PositionAddresses
from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.recalculations import TicketRecalculations
from motorpool.actors.helpdesk.rule_follower import RuleFollower
from motorpool.actors.helpdesk.rule_tickets import RuleTickets
from motorpool.actors.helpdesk.ticket_captures import TicketCaptures
from motorpool.actors.helpdesk.ticket_clock import TicketClock
from motorpool.actors.helpdesk.ticket_commands import TicketCommands
from motorpool.actors.helpdesk.ticket_creator import TICKET_CREATOR, TicketCreator
from motorpool.actors.helpdesk.ticket_pictures import TicketPictures
from motorpool.actors.helpdesk.webhook_sender import WebhookSender
from motorpool.actors.helpdesk.zone_follower import ZoneFollower
from motorpool.actors.mailings.expiry_mails import ExpiryMails
from motorpool.actors.mailings.scheduled_report_mails import ScheduledReportMails
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.access import ACCESS
from motorpool.actors.messages.command_log import COMMAND_LOG
from motorpool.actors.messages.directory import DIRECTORY
from motorpool.actors.messages.downlink import CONNECTION, CheckDeadlines
from motorpool.actors.messages.footage import FOOTAGE_REQUESTS
from motorpool.actors.messages.homes import HOMES
from motorpool.actors.messages.rule_cache import RULE_CACHE
from motorpool.actors.messages.scheduling import DISPATCHER, SCHEDULED_REPORT_MAILS, TIMETABLE
from motorpool.actors.messages.text_channel import TEXT_CHANNEL
from motorpool.actors.messages.tickets import (
    TICKET_CAPTURES,
    TICKET_CLOCK,
    TICKET_COMMANDS,
    TICKET_PICTURES,
    TICKET_RECALCULATIONS,
    WEBHOOK_SENDER,
)
from motorpool.actors.messages.timed_events import TIMED_EVENTS
from motorpool.actors.reports.mailer import REPORT_MAILER, ReportMailer
from motorpool.actors.schedules.dispatcher import Dispatcher
from motorpool.actors.schedules.timetable import Timetable
from motorpool.actors.schedules.timetable_kinds import SCHEDULED_REPORTS
from motorpool.actors.settings import FleetSettings
from motorpool.actors.timed_events.timed_events import TimedEvents
from motorpool.actors.upkeep.file_retention import FILE_RETENTION, FileRetention
from motorpool.actors.upkeep.resource_monitor import ResourceMonitor
from motorpool.actors.upkeep.retention import Retention, RetentionDays
from motorpool.actors.upkeep.statistics import STATISTICS, DayStatistics
from motorpool.actors.video.capture import capture_spec
from motorpool.actors.video.capture_records import CAPTURE_RECORDS, CaptureRecords
from motorpool.actors.video.capture_retention import CaptureRetention
from motorpool.actors.video.decoders import DECODERS, Decoders
from motorpool.actors.video.media_requests import MEDIA_REQUESTS, MediaRequests
from motorpool.actors.video.moving import OtherServers
from motorpool.actors.video.playback import playback_spec
from motorpool.actors.video.renditions import RENDITION_WORKER, RenditionWorker, rendition_spec
from motorpool.actors.video.segment_store import segment_store_spec
from motorpool.actors.video.snapshot import SNAPSHOT, Snapshot
from motorpool.actors.video.sound import SOUND, Sound
from motorpool.actors.video.stream import stream_spec
from motorpool.actors.video.talk import talk_spec
from motorpool.actors.work.networks import Networks
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.jt1078 import MEDIA_PORTS
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import ChildSpec, DynamicSpec, Link, Restart, Strategy, SupervisorSpec, TaskSpec
from motorpool.storage.database.database import Database
from motorpool.storage.records import Position
from motorpool.storage.settings import ROLES

MEDIA_READ_BYTES = 64 * 1024
"""Bytes of one read of a media connection."""
LIVE_PAUSE_SECONDS = 0.4
"""Pause between two reads of a live connection: five for each segment, at least two for each part."""
PLAYBACK_PAUSE_SECONDS = 0.02
"""Pause between two reads of a playback, which a terminal sends as fast as it can, and of talk."""
MEDIA_LOGIN_SECONDS = 10.0
"""Limit for the first valid packet of a media connection
(docs/protocols/jt1078.md#media-connections)."""


def fleet_tree(
    database: Database,
    settings: FleetSettings,
    *,
    in_use: Callable[[], FleetSettings] | None = None,
    outgoing: OutgoingServices | None = None,
    services: tuple[ChildSpec[Any], ...] = (),
    server_key: bytes | None = None,
    node: int = 0,
    clustered: bool = False,
    link: Link | None = None,
    home_finder: HomeFinder | None = None,
    files: MediaFiles | None = None,
    record: Path | None = None,
    console_url: str = "",
    ports: SharedPorts | None = None,
    others: OtherServers | None = None,
    roles: Collection[str] = ROLES,
    inherited: InheritedSockets | None = None,
) -> SupervisorSpec:
    """Build the whole tree. `in_use` returns the settings that apply now, where they may be changed while the
    server runs. `services` (HTTP) start last and stop first; without `outgoing` no mail, text message or
    geocoder request is sent. `server_key` is the codecs' key (`DeviceCodec.server_key`), `node` is
    the number of this server in the database (storage/database/nodes.py); `clustered` says that there may be
    others, which `link` reaches, if there is one, with a `home_finder`. The traffic of devices is recorded in
    the folder `record`; links in mails lead to `console_url`, where users find the console, and are left out
    without it. `ports` are those that this server shares with others of its machine. With `others` live
    streams move between the servers of a cluster, and `roles` is what this one does for it. `inherited` are
    sockets that a service manager has opened.

    Raises:
        ValueError: the settings name an unknown protocol.
    """
    now = in_use or (lambda: settings)
    media = _media_address(settings, ports)
    files = files or open_media_files(settings.data)
    outgoing = outgoing or OutgoingServices()
    hub = open_hub()
    rule_cache = RuleCache(
        database,
        settings.rules,
        read_assignments(settings.device.protocol_attributes),
        settings.device.binding,
    )
    latest: dict[int, Position | None] = {}
    cluster_statuses = ClusterStatuses() if clustered else None
    device_options = DeviceOptions(
        media=media,
        files=files,
        status_timeout_seconds=settings.device.status_seconds,
        requests_alarm_files=settings.video.alarm_attachments,
        text_channel=lambda: outgoing.sms.enabled,
        latest=latest,
        node=node,
        cluster_statuses=cluster_statuses,
        linked=link is not None,
    )
    business_calendars = BusinessCalendars(timedelta(days=settings.tickets.horizon_days))
    ticket_mails = TicketMails(outgoing.mail, console_url)
    ticket_batches = TicketBatches(business_calendars, ticket_mails)
    rule_tickets = RuleTickets(
        business_calendars, ticket_mails, timedelta(hours=settings.tickets.capture_wait_hours)
    )
    forward = settings.forward.of_server(node) if clustered else settings.forward
    duties = Duties(
        database,
        node if clustered else None,
        ports.leaving if ports is not None else None,
        is_holder="duties" in roles,
    )
    # This server in its leases; the same after a restart of an actor, which so keeps what it has.
    holder = secrets.token_hex(8)
    return SupervisorSpec(
        name="system",
        strategy=Strategy.REST_FOR_ONE,
        children=(
            # Above all that reports to them until it has stopped.
            SupervisorSpec(
                name="upkeep",
                intensity=None,
                children=(
                    *(
                        (ChildSpec(kind=RECORDER, factory=lambda: Recorder(record), mailbox_size=10_000),)
                        if record is not None
                        else ()
                    ),
                    TaskSpec(
                        name="resource_monitor",
                        factory=lambda: ResourceMonitor(settings.data, settings.files.reserve_bytes),
                    ),
                    *duties.keeper_specs(),
                    duties.only("retention", lambda held: Retention(held, lambda: _retention_days(now()))),
                    ChildSpec(kind=STATISTICS, factory=lambda: DayStatistics(database), mailbox_size=10_000),
                    *(
                        (
                            TaskSpec(
                                name="forwarder",
                                factory=lambda: Forwarder(database, outgoing.http, forward),
                            ),
                        )
                        if settings.forward.url is not None or settings.forward.device_urls
                        else ()
                    ),
                ),
            ),
            ChildSpec(
                kind=POSITION_WRITER, factory=lambda: PositionWriter(database.urgent()), mailbox_size=256
            ),
            ChildSpec(
                kind=DIRECTORY,
                factory=lambda: Directory(database, latest, cluster_statuses),
                mailbox_size=10_000,
            ),
            ChildSpec(kind=ACCESS, factory=lambda: Access(database), mailbox_size=10_000),
            ChildSpec(kind=MEDIA_REQUESTS, factory=lambda: MediaRequests(database)),
            ChildSpec(kind=RULE_CACHE, factory=lambda: RuleCacheActor(rule_cache, database)),
            ChildSpec(kind=DEVICE_LOADER, factory=lambda: DeviceLoader(database, rule_cache)),
            *(
                (
                    ChildSpec(
                        kind=HOMES,
                        factory=lambda: Homes(database, node, moves_streams=others is not None),
                        mailbox_size=100_000,
                    ),
                )
                if clustered
                else ()
            ),
            device_spec(database, device_options, rule_cache, link=link, placement=home_finder),
            SupervisorSpec(
                name="decoding",
                intensity=None,
                children=(
                    ChildSpec(kind=DECODERS, factory=Decoders, mailbox_size=100),
                    ChildSpec(kind=SOUND, factory=Sound),
                    ChildSpec(kind=RENDITION_WORKER, factory=RenditionWorker),
                ),
            ),
            rendition_spec(files, database),
            # Above streams and playbacks, which hand over their last fragments when they stop.
            SupervisorSpec(
                name="recording",
                strategy=Strategy.REST_FOR_ONE,
                intensity=None,
                children=(
                    ChildSpec(
                        kind=CAPTURE_RECORDS,
                        factory=lambda: CaptureRecords(database, settings.captures.per_device, node=node),
                        mailbox_size=10_000,
                    ),
                    capture_spec(database, files.store, settings.captures, node=node),
                ),
            ),
            stream_spec(database, settings.video, clustered=clustered, node=node, others=others),
            DynamicSpec(
                kind=SNAPSHOT,
                name="snapshots",
                factory=lambda _: Snapshot(),
                mailbox_size=200,
                idle_seconds=60.0,
            ),
            segment_store_spec(
                settings.data, settings.video.playback_quota_bytes, settings.files.reserve_bytes
            ),
            playback_spec(database, settings.video),
            talk_spec(),
            ChildSpec(kind=IDENTIFICATION, factory=lambda: Identification(database, settings.register)),
            *((TaskSpec(name="hub", factory=lambda: HubActor(hub)),) if hub is not None else ()),
            DynamicSpec(
                kind=CONNECTION,
                name="connections",
                restart=Restart.TEMPORARY,
                tick=CheckDeadlines(),
                tick_seconds=check_seconds(settings.device.login_seconds),
            ),
            SupervisorSpec(
                name="listeners",
                intensity=None,
                children=tuple(
                    _listeners(
                        database,
                        rule_cache,
                        settings,
                        hub,
                        server_key,
                        files,
                        media,
                        ports,
                        inherited or InheritedSockets(),
                        is_recorded=record is not None,
                    )
                    if "devices" in roles
                    else ()
                ),
            ),
            SupervisorSpec(
                name="background",
                intensity=None,
                children=(
                    *(
                        (
                            TaskSpec(name="change_relay", factory=lambda: ChangeRelay(database)),
                            TaskSpec(
                                name="live_relay",
                                factory=lambda: LiveRelay(
                                    database,
                                    node,
                                    cluster_statuses,
                                    files.store,
                                    NotifyBroadcasts(database, LIVE_CHANNEL)
                                    if link is None
                                    else LinkBroadcasts(link, LIVE_CHANNEL),
                                ),
                            ),
                        )
                        if cluster_statuses is not None
                        else ()
                    ),
                    *((TaskSpec(name="link", factory=lambda: LinkServer(link)),) if link is not None else ()),
                    TaskSpec(
                        name="capture_retention",
                        factory=lambda: CaptureRetention(
                            database, files.store, lambda: now().captures, node=node, clustered=clustered
                        ),
                    ),
                    ChildSpec(
                        kind=FILE_RETENTION,
                        factory=lambda: FileRetention(database, files, lambda: now().files),
                    ),
                    ChildSpec(
                        kind=OUTBOX,
                        factory=lambda: Outbox(database, outgoing, settings.outbox.give_up_days, holder),
                    ),
                    TaskSpec(
                        name="notifier",
                        factory=lambda: Notifier(
                            database, outgoing, settings.notifications.max_age_seconds, console_url
                        ),
                    ),
                    ChildSpec(
                        kind=REPORT_MAILER,
                        factory=lambda: ReportMailer(database, outgoing, settings.reports),
                    ),
                    ChildSpec(kind=COMMAND_LOG, factory=lambda: CommandLog(database, node)),
                    ChildSpec(kind=TEXT_CHANNEL, factory=lambda: TextChannel(outgoing.sms)),
                    TaskSpec(
                        name="position_addresses",
                        factory=lambda: PositionAddresses(database, lambda: outgoing.geocoder),
                    ),
                    schedule_spec(
                        database,
                        reconnect_grace_seconds=settings.schedules.reconnect_grace_seconds,
                        status_seconds=settings.device.status_seconds,
                        node=node,
                        duties=duties,
                    ),
                    SupervisorSpec(
                        name="scheduled_reports",
                        strategy=Strategy.REST_FOR_ONE,
                        children=(
                            ChildSpec(
                                kind=SCHEDULED_REPORT_MAILS,
                                factory=lambda: ScheduledReportMails(database, outgoing, console_url),
                                mailbox_size=100,
                            ),
                            duties.only(
                                "scheduled_reports",
                                lambda held: Timetable(held, SCHEDULED_REPORTS),
                                SCHEDULED_REPORTS.timetable,
                            ),
                        ),
                    ),
                    duties.only(
                        "expiry_mails", lambda held: ExpiryMails(held, outgoing, settings.expirations)
                    ),
                    ChildSpec(
                        kind=WEBHOOK_SENDER,
                        factory=lambda: WebhookSender(
                            database, outgoing, holder, settings.tickets.webhook_log_days
                        ),
                    ),
                    duties.only(
                        "timed_events",
                        lambda held: TimedEvents(held, settings.rules, clustered=clustered),
                        TIMED_EVENTS,
                    ),
                    ChildSpec(
                        kind=TICKET_CREATOR,
                        factory=lambda: TicketCreator(
                            database, business_calendars, ticket_mails, settings.tickets.created_per_hour
                        ),
                    ),
                    ChildSpec(kind=TICKET_CLOCK, factory=lambda: TicketClock(database, ticket_batches)),
                    ChildSpec(
                        kind=TICKET_RECALCULATIONS,
                        factory=lambda: TicketRecalculations(database, ticket_batches),
                    ),
                    ChildSpec(
                        kind=TICKET_PICTURES,
                        factory=lambda: TicketPictures(database, files, business_calendars, ticket_mails),
                    ),
                    TaskSpec(name="ticket_zones", factory=lambda: ZoneFollower(database, ticket_batches)),
                    ChildSpec(kind=TICKET_COMMANDS, factory=lambda: TicketCommands(database, ticket_batches)),
                    ChildSpec(
                        kind=TICKET_CAPTURES,
                        factory=lambda: TicketCaptures(
                            database, files.store, holder, business_calendars, ticket_mails
                        ),
                    ),
                    ChildSpec(kind=FOOTAGE_REQUESTS, factory=lambda: FootageRequests(database, holder)),
                    TaskSpec(name="ticket_rules", factory=lambda: RuleFollower(database, rule_tickets)),
                ),
            ),
            *((SupervisorSpec(name="services", intensity=None, children=services),) if services else ()),
        ),
    )


def _media_address(settings: FleetSettings, ports: SharedPorts | None) -> MediaAddress:
    """Return the ports that terminals are told to send to."""
    offset, upload_port = settings.port.offset, Jt808.port
    if ports is not None:
        offset, upload_port = offset + ports.index, Jt808.files_port
    return MediaAddress(
        settings.public.host or "",
        MEDIA_PORTS["live"] + offset,
        MEDIA_PORTS["playback"] + offset,
        upload_port + offset,
        MEDIA_PORTS["talk"] + offset,
    )


def _retention_days(settings: FleetSettings) -> RetentionDays:
    return RetentionDays(
        positions=settings.positions.retention_days or 0,
        events=settings.events.retention_days or 0,
        audit=settings.audit.retention_days or 0,
        statistics=settings.statistics.retention_days or 0,
        runs=settings.schedules.retention_days,
    )


def schedule_spec(
    database: Database,
    *,
    reconnect_grace_seconds: float = 0.0,
    status_seconds: float = 0.0,
    node: int = 0,
    duties: Duties | None = None,
) -> SupervisorSpec:
    """Build the subtree of scheduled commands; a crash makes the children below it reload their rows."""
    duties = duties or Duties(database, None)
    return SupervisorSpec(
        name="schedule",
        strategy=Strategy.REST_FOR_ONE,
        children=(
            ChildSpec(
                kind=DISPATCHER,
                factory=lambda: Dispatcher(
                    database, reconnect_grace_seconds, status_seconds, node, duties.duty("schedule")
                ),
                # Longer than by default: it waits for four seconds for the steps that are being sent.
                shutdown_seconds=6.0,
            ),
            duties.only("schedule", Timetable, TIMETABLE),
        ),
    )


def _media_pause(kind: str, part_seconds: float) -> float:
    if kind != "live":
        return PLAYBACK_PAUSE_SECONDS
    return min(LIVE_PAUSE_SECONDS, part_seconds / 2) if part_seconds else LIVE_PAUSE_SECONDS


def _listeners(
    database: Database,
    rule_cache: RuleCache,
    settings: FleetSettings,
    hub: Hub | None,
    server_key: bytes | None,
    files: MediaFiles,
    media: MediaAddress,
    ports: SharedPorts | None,
    inherited: InheritedSockets,
    *,
    is_recorded: bool,
) -> list[TaskSpec]:
    protocols = enabled_protocols(settings.protocols)
    storage = UploadStorage(files, settings.video.attachment_bytes)
    uploads = storage if settings.video.alarm_attachments else None
    guard = device_guard(settings.device.connections, settings.device.connections_per_address)
    datagrams = datagram_guard(settings.device.connections, settings.device.connections_per_address)
    media_ports = media_guard(settings.video.connections, settings.video.connections_per_address)
    proxies = Networks(settings.device.trusted_proxies if settings.device.proxy_protocol else ())
    specs = []
    for name, codec in sorted(CODECS.items()):
        if name not in protocols:
            continue
        port = DevicePort(
            name=name,
            host=settings.device.host,
            number=codec.port + settings.port.offset,
            make_connection=partial(
                DeviceConnection,
                codec_type=codec,
                database=database,
                rule_cache=rule_cache,
                settings=settings.device,
                uploads=uploads,
                server_key=server_key,
            ),
            guard=guard,
            is_recorded=is_recorded,
            hub=hub,
            proxies=proxies,
            inherited=inherited,
        )
        if ports is not None:
            port = replace(port, shared=ports.listening[port.number], load=ports.load, leaving=ports.leaving)
        specs.append(_listener(port))
        if ports is not None and codec is Jt808:
            own = replace(port, number=media.upload_port, shared=None, load=None, leaving=None)
            specs.append(TaskSpec(name=f"listener:{name}-files", factory=partial(Listener, own)))
        if codec.udp:
            specs.append(
                TaskSpec(
                    name=f"listener:{name}-udp",
                    factory=partial(DatagramListener, codec, replace(port, guard=datagrams)),
                )
            )
    if "jt1078" in protocols:
        login_seconds = min(settings.device.login_seconds, MEDIA_LOGIN_SECONDS)
        specs += [
            _listener(
                DevicePort(
                    name=f"jt1078-{kind}",
                    host=settings.device.host,
                    number=number,
                    make_connection=(
                        partial(TalkConnection, login_seconds=login_seconds)
                        if kind == "talk"
                        else partial(MediaConnection, kind=kind, login_seconds=login_seconds)
                    ),
                    guard=media_ports,
                    is_recorded=is_recorded,
                    read_bytes=MEDIA_READ_BYTES,
                    pauses=SharedPauses(_media_pause(kind, settings.video.part_seconds)),
                    proxies=proxies,
                    inherited=inherited,
                )
            )
            for kind, number in (
                ("live", media.live_port),
                ("playback", media.playback_port),
                ("talk", media.talk_port),
            )
        ]
    return specs


def _listener(port: DevicePort) -> TaskSpec:
    return TaskSpec(name=f"listener:{port.name}", factory=lambda: Listener(port))
