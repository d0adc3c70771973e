"""The supervision tree: each child depends only on those above it.

Children start from top to bottom and stop from bottom to top; a crash restarts the children below it. Actors
on which no others depend are in supervisors that never give up (`intensity=None`), so that their crash costs
nothing else and never ends the program (docs/supervision.md).
"""

from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from motorpool.actors.accounts.access import access_spec
from motorpool.actors.cluster.change_relay import change_relay_spec
from motorpool.actors.cluster.cluster_statuses import ClusterStatuses
from motorpool.actors.cluster.duties import Duties
from motorpool.actors.cluster.homes import homes_spec
from motorpool.actors.cluster.live_relay import live_relay_spec
from motorpool.actors.deliveries import OutgoingServices
from motorpool.actors.deliveries.outbox import outbox_spec
from motorpool.actors.deliveries.text_channel import text_channel_spec
from motorpool.actors.devices.device import device_spec
from motorpool.actors.devices.device_loader import device_loader_spec
from motorpool.actors.devices.directory import directory_spec
from motorpool.actors.devices.options import DeviceOptions
from motorpool.actors.devices.position_writer import position_writer_spec
from motorpool.actors.devices.protocol_attributes import read_assignments
from motorpool.actors.devices.rule_cache import RuleCache, rule_cache_spec
from motorpool.actors.events.notifier import notifier_spec
from motorpool.actors.files.media_files import MediaFiles, open_media_files
from motorpool.actors.files.uploads import UploadStorage
from motorpool.actors.footage.footage_requests import footage_requests_spec
from motorpool.actors.forwarding.forwarder import forwarder_spec
from motorpool.actors.gateway.datagram_listener import datagram_listener_spec
from motorpool.actors.gateway.device_connection import DeviceConnection
from motorpool.actors.gateway.hub import Hub, hub_spec, open_hub
from motorpool.actors.gateway.identity import identification_spec
from motorpool.actors.gateway.listener import DevicePort, listener_spec
from motorpool.actors.gateway.media_connection import MediaConnection
from motorpool.actors.gateway.port_guard import datagram_guard, device_guard, media_guard
from motorpool.actors.gateway.recorder import recorder_spec
from motorpool.actors.geocoding.position_addresses import position_addresses_spec
from motorpool.actors.helpdesk.batches import TicketBatches
from motorpool.actors.helpdesk.business_calendars import BusinessCalendars
from motorpool.actors.helpdesk.recalculations import ticket_recalculations_spec
from motorpool.actors.helpdesk.rule_follower import ticket_rules_spec
from motorpool.actors.helpdesk.rule_tickets import RuleTickets
from motorpool.actors.helpdesk.ticket_captures import ticket_captures_spec
from motorpool.actors.helpdesk.ticket_clock import ticket_clock_spec
from motorpool.actors.helpdesk.ticket_commands import ticket_commands_spec
from motorpool.actors.helpdesk.ticket_creator import ticket_creator_spec
from motorpool.actors.helpdesk.ticket_pictures import ticket_pictures_spec
from motorpool.actors.helpdesk.webhook_sender import webhook_sender_spec
from motorpool.actors.helpdesk.zone_follower import ticket_zones_spec
from motorpool.actors.mailings.expiry_mails import expiry_mails_spec
from motorpool.actors.mailings.scheduled_report_mails import scheduled_report_mails_spec
from motorpool.actors.mailings.ticket_mails import TicketMails
from motorpool.actors.messages.downlink import CONNECTION
from motorpool.actors.reports.mailer import report_mailer_spec
from motorpool.actors.schedules.dispatcher import dispatcher_spec
from motorpool.actors.schedules.timetable import timetable_spec
from motorpool.actors.schedules.timetable_kinds import SCHEDULED_REPORTS
from motorpool.actors.settings import FleetSettings
from motorpool.actors.timed_events.timed_events import timed_events_spec
from motorpool.actors.upkeep.file_retention import file_retention_spec
from motorpool.actors.upkeep.retention import RetentionDays, retention_spec
from motorpool.actors.upkeep.statistics import statistics_spec
from motorpool.actors.video.capture import capture_spec
from motorpool.actors.video.capture_records import capture_records_spec
from motorpool.actors.video.capture_retention import capture_retention_spec
from motorpool.actors.video.decoders import decoders_spec
from motorpool.actors.video.media_requests import media_requests_spec
from motorpool.actors.video.playback import playback_spec
from motorpool.actors.video.segment_store import segment_store_spec
from motorpool.actors.video.snapshot import snapshot_spec
from motorpool.actors.video.sound import sound_spec
from motorpool.actors.video.stream import stream_spec
from motorpool.actors.work.networks import Networks
from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.media.jt1078 import MEDIA_PORTS
from motorpool.codecs.reports import MediaAddress
from motorpool.runtime import ChildSpec, DynamicSpec, Restart, Strategy, SupervisorSpec, TaskSpec
from motorpool.storage.database.database import Database
from motorpool.storage.records import Position

MEDIA_READ_BYTES = 64 * 1024
"""Bytes of one read of a media connection."""
LIVE_PAUSE_SECONDS = 0.4
"""Pause between two reads of a live connection: five for each segment, at least two for each part."""
PLAYBACK_PAUSE_SECONDS = 0.02
"""Pause between two reads of a playback, which a terminal sends as fast as it can."""
MEDIA_LOGIN_SECONDS = 10.0
"""Limit for the first valid packet of a media connection
(docs/protocols/jt1078.md#media-connections)."""


def fleet_tree(
    database: Database,
    settings: FleetSettings,
    *,
    outgoing: OutgoingServices | None = None,
    services: tuple[ChildSpec[Any], ...] = (),
    server_key: bytes | None = None,
    node: int = 0,
    clustered: bool = False,
    files: MediaFiles | None = None,
    record: Path | None = None,
    console_url: str = "",
) -> SupervisorSpec:
    """Build the whole tree. `services` (HTTP) start last and stop first; without `outgoing` no mail, text
    message or geocoder request is sent. `server_key` is the codecs' key (`DeviceCodec.server_key`), `node` is
    the number of this server in the database (storage/database/nodes.py); `clustered` says that there may be
    others. The traffic of devices is recorded in the folder `record`; links in mails lead to `console_url`,
    where users find the console, and are left out without it.

    Raises:
        ValueError: the settings name an unknown protocol.
    """
    offset = settings.port.offset
    media = MediaAddress(
        settings.public.host or "",
        MEDIA_PORTS["live"] + offset,
        MEDIA_PORTS["playback"] + offset,
        Jt808.port + offset,
    )
    files = files or open_media_files(settings.data)
    outgoing = outgoing or OutgoingServices()
    hub = open_hub()
    rule_cache = RuleCache(database, settings.rules, read_assignments(settings.device.protocol_attributes))
    latest: dict[int, Position | None] = {}
    cluster_statuses = ClusterStatuses() if clustered else None
    business_calendars = BusinessCalendars(timedelta(days=settings.tickets.horizon_days))
    ticket_mails = TicketMails(outgoing.mail, console_url)
    ticket_batches = TicketBatches(business_calendars, ticket_mails)
    duties = Duties(database, node if clustered else None)
    retention_days = RetentionDays(
        positions=settings.positions.retention_days or 0,
        events=settings.events.retention_days or 0,
        audit=settings.audit.retention_days or 0,
        statistics=settings.statistics.retention_days or 0,
        runs=settings.schedules.retention_days,
    )
    return SupervisorSpec(
        name="system",
        strategy=Strategy.REST_FOR_ONE,
        children=(
            # Above all that reports to them until it has stopped.
            SupervisorSpec(
                name="upkeep",
                intensity=None,
                children=(
                    *((recorder_spec(record),) if record else ()),
                    *duties.keeper_specs(),
                    duties.only("retention", lambda held: retention_spec(held, retention_days)),
                    statistics_spec(database),
                    *(
                        (forwarder_spec(database, outgoing.http, settings.forward),)
                        if settings.forward.url is not None or settings.forward.device_urls
                        else ()
                    ),
                ),
            ),
            position_writer_spec(database, is_urgent=True),
            directory_spec(database, latest, cluster_statuses),
            access_spec(database),
            media_requests_spec(database),
            rule_cache_spec(rule_cache, database),
            device_loader_spec(database, rule_cache),
            *((homes_spec(database, node),) if clustered else ()),
            device_spec(
                database,
                DeviceOptions(
                    media=media,
                    files=files,
                    status_timeout_seconds=settings.device.status_seconds,
                    requests_alarm_files=settings.video.alarm_attachments,
                    text_channel=outgoing.sms.enabled,
                    latest=latest,
                    node=node,
                    cluster_statuses=cluster_statuses,
                ),
                rule_cache,
            ),
            SupervisorSpec(name="decoding", intensity=None, children=(decoders_spec(), sound_spec())),
            # Above streams and playbacks, which hand over their last fragments when they stop.
            SupervisorSpec(
                name="recording",
                strategy=Strategy.REST_FOR_ONE,
                intensity=None,
                children=(
                    capture_records_spec(
                        database, settings.captures.per_device, node=node, clustered=clustered
                    ),
                    capture_spec(database, files.store, settings.captures),
                ),
            ),
            stream_spec(database, settings.video, clustered=clustered),
            snapshot_spec(),
            segment_store_spec(
                settings.data, settings.video.playback_quota_bytes, settings.files.reserve_bytes
            ),
            playback_spec(database, settings.video),
            identification_spec(database, settings.register),
            *((hub_spec(hub),) if hub is not None else ()),
            DynamicSpec(
                kind=CONNECTION,
                name="connections",
                factory=None,
                restart=Restart.TEMPORARY,
                mailbox_size=1_000,
                idle_seconds=None,
            ),
            SupervisorSpec(
                name="listeners",
                intensity=None,
                children=tuple(
                    _listeners(
                        database, rule_cache, settings, hub, server_key, files, is_recorded=record is not None
                    )
                ),
            ),
            SupervisorSpec(
                name="background",
                intensity=None,
                children=(
                    *((change_relay_spec(database),) if clustered else ()),
                    *(
                        (live_relay_spec(database, node, cluster_statuses, files.store),)
                        if cluster_statuses is not None
                        else ()
                    ),
                    capture_retention_spec(
                        database,
                        files.store,
                        settings.captures.quota_bytes or 0,
                        settings.captures.retention_days or 0,
                        node=node,
                        clustered=clustered,
                    ),
                    file_retention_spec(
                        database, files, settings.files.quota_bytes or 0, settings.files.retention_days or 0
                    ),
                    outbox_spec(database, outgoing, settings.outbox.give_up_days),
                    notifier_spec(database, outgoing, settings.notifications.max_age_seconds, console_url),
                    report_mailer_spec(database, outgoing, settings.reports),
                    text_channel_spec(outgoing.sms),
                    *(
                        (position_addresses_spec(database, outgoing.geocoder),)
                        if outgoing.geocoder is not None and outgoing.geocoder.service.positions
                        else ()
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
                            scheduled_report_mails_spec(database, outgoing, console_url),
                            duties.only(
                                "scheduled_reports", lambda held: timetable_spec(held, SCHEDULED_REPORTS)
                            ),
                        ),
                    ),
                    duties.only(
                        "expiry_mails", lambda held: expiry_mails_spec(held, outgoing, settings.expirations)
                    ),
                    webhook_sender_spec(database, outgoing, settings.tickets.webhook_log_days),
                    duties.only(
                        "timed_events",
                        lambda held: timed_events_spec(held, settings.rules, clustered=clustered),
                    ),
                    ticket_creator_spec(
                        database, business_calendars, ticket_mails, settings.tickets.created_per_hour
                    ),
                    ticket_clock_spec(database, ticket_batches),
                    ticket_recalculations_spec(database, ticket_batches),
                    ticket_pictures_spec(
                        database,
                        files,
                        business_calendars,
                        ticket_mails,
                    ),
                    ticket_zones_spec(database, ticket_batches),
                    ticket_commands_spec(database, ticket_batches),
                    ticket_captures_spec(database, files.store, business_calendars, ticket_mails),
                    footage_requests_spec(database),
                    ticket_rules_spec(
                        database,
                        RuleTickets(
                            business_calendars,
                            ticket_mails,
                            timedelta(hours=settings.tickets.capture_wait_hours),
                        ),
                    ),
                ),
            ),
            *((SupervisorSpec(name="services", intensity=None, children=services),) if services else ()),
        ),
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
            dispatcher_spec(
                database,
                reconnect_grace_seconds=reconnect_grace_seconds,
                status_seconds=status_seconds,
                node=node,
                duty=duties.duty("schedule"),
            ),
            duties.only("schedule", timetable_spec),
        ),
    )


def _media_pause(kind: str, part_seconds: float) -> float:
    if kind == "playback":
        return PLAYBACK_PAUSE_SECONDS
    return min(LIVE_PAUSE_SECONDS, part_seconds / 2) if part_seconds else LIVE_PAUSE_SECONDS


def _listeners(
    database: Database,
    rule_cache: RuleCache,
    settings: FleetSettings,
    hub: Hub | None,
    server_key: bytes | None,
    files: MediaFiles,
    *,
    is_recorded: bool,
) -> list[TaskSpec]:
    protocols = set(settings.protocols) if settings.protocols is not None else {*CODECS, "jt1078"}
    unknown = protocols - {*CODECS, "jt1078"}
    if unknown:
        raise ValueError(f"no such protocol: {', '.join(sorted(unknown))}")
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
        )
        specs.append(listener_spec(port))
        if codec.udp:
            specs.append(datagram_listener_spec(codec, replace(port, guard=datagrams)))
    if "jt1078" in protocols:
        specs += [
            listener_spec(
                DevicePort(
                    name=f"jt1078-{kind}",
                    host=settings.device.host,
                    number=number + settings.port.offset,
                    make_connection=partial(
                        MediaConnection,
                        kind=kind,
                        login_seconds=min(settings.device.login_seconds, MEDIA_LOGIN_SECONDS),
                    ),
                    guard=media_ports,
                    is_recorded=is_recorded,
                    read_bytes=MEDIA_READ_BYTES,
                    pause_seconds=_media_pause(kind, settings.video.part_seconds),
                    proxies=proxies,
                )
            )
            for kind, number in MEDIA_PORTS.items()
        ]
    return specs
