"""Fills the database of a release, and dumps it: what tests of migrations begin with.

    .venv/bin/python -m tests.storage.filled.fill [CHECKOUT]

writes the dump of the release in the folder CHECKOUT, which is this one by default, to its VERSION.sql.gz
here; the tests find it there. CHECKOUT has its own `.venv`, and nothing of it is changed: its server runs in
a temporary folder, and its simulated vehicles drive. People and programs use it over HTTP for two minutes;
then the server is killed in the middle of its work, so that leases, claims and unfinished rows are in the
dump.

A table that stays empty is named at the end: a release with new tables needs more that is done here. Written
by SQL are only rows that this cannot reach: those of `SQL`, each with its reason. `deleted_devices`,
`unmatched_events`, `ticket_rule_events`, `report_mails` and `ticket_command_news` hold rows for milliseconds
only; before the server is killed, a lock keeps those from being worked at.
"""

import argparse
import base64
import gzip
import hmac
import os
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx
import trio
from tests.storage.filled.releases import dump_of

from motorpool.bench.free_ports import free_port
from motorpool.bench.server import EMAIL, LOG_FILE, Server, fetch_rows, run_server
from motorpool.runtime.clock import SystemClock
from motorpool.storage.postgres.embedded import EmbeddedServer, binaries

Row = dict[str, Any]
CLOCK = SystemClock()
PASSWORD = "a-password-of-the-dump"
TOTP_KEY = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
ENCRYPTION_KEY = base64.b64encode(b"the key of all databases of dumps"[:32]).decode()
WEBHOOK_SECRET = "a-secret-of-the-webhook"
COMPANY_SECRET = "a-secret-of-the-company"
SECONDS = 300.0
"""That anything is waited for."""
OFFICE_HOURS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Motorpool//filled//EN
BEGIN:VEVENT
UID:hours
DTSTART;TZID=Europe/Berlin:20260105T000000
DTEND;TZID=Europe/Berlin:20260105T235900
RRULE:FREQ=DAILY
END:VEVENT
END:VCALENDAR
"""
WAYS = {
    "new": (),
    "open": ("open",),
    "pending": ("open", "pending"),
    "resolved": ("open", "resolved"),
    "closed": ("open", "resolved", "closed"),
    "cancelled": ("cancelled",),
}
"""The statuses that a ticket goes through, by kind."""
SQL = """
    -- Needs a provider of OpenID Connect.
    insert into openid_identities (issuer, subject, user_id, linked)
        select 'https://login.example.org', 'subject-' || id, id, now() from users where login = 'mia';
    -- Tickets of a company whose webhook has failed for three days.
    insert into delivery_attempts (company_id, delivery_id, attempt, at, status, error, milliseconds)
        select company_id, id, n, now() - n * interval '8 hours', 500, 'status', 12
        from deliveries, generate_series(2, 10) n
        where id = (select min(id) from deliveries where company_id is not null);
    -- Messages whose last attempt was their tenth, and of a webhook that was disabled a week ago.
    update deliveries set state = 'failed', attempts = 10, last_error = 'status 500'
        where id = (select min(id) from deliveries where company_id is not null);
    insert into deliveries (lane, receiver, company_id, message_id, message, created, state, next_attempt,
            order_key, holds_back, sequence, type)
        select lane, receiver, company_id, message_id || '-dropped', message, created, 'dropped',
            next_attempt, order_key, holds_back, sequence + 100, type
        from deliveries where company_id is not null and state = 'waiting' order by id limit 2;
    -- A receiver that has refused for days.
    insert into receivers (lane, receiver, failures, since, last_failure, last_error, paused)
        select 'webhook', id, 25, now() - interval '4 days', now(), 'answered 500', now()
        from users where login = 'mia' on conflict (lane, receiver) do update set paused = now();
    -- A message that later ones have overtaken.
    update deliveries set holds_back = false, attempts = 7
        where id = (select min(id) from deliveries where attempts > 0 and order_key is not null);
    -- A firing for thousands of devices, of which some have no records yet.
    insert into unfinished_firings
            (firing, scheduled_command_id, phase, at, command_ids, delays, after_device)
        select nextval('scheduled_command_firings'), s.id, 'manual', now(),
            array[(s.on_start -> 0 ->> 'commandId')::bigint], array[0], (select min(id) from devices)
        from scheduled_commands s;
    -- Of a day before this one.
    insert into statistics (day, capture_time, active_users, requests, protocols)
        values (current_date - 1, now() - interval '1 day', 3, 4711, '{"osmand": 2}');
"""


class Filled:
    """A server of the release, who uses it, and what was made."""

    def __init__(self, server: Server, receiver: str) -> None:
        self.server = server
        self.receiver = receiver
        self.api = server.client()
        self.users: dict[str, httpx.Client] = {}
        self.ids: dict[str, int] = {}

    def post(self, path: str, body: object = None, by: str = "", **query: Any) -> Any:
        """Create or order something as the administrator, or as another user."""
        return self._ask("POST", path, by, json=body, params=query)

    def put(self, path: str, body: object, by: str = "") -> Any:
        """Replace a record."""
        return self._ask("PUT", path, by, json=body)

    def get(self, path: str, by: str = "", **query: Any) -> Any:
        """Read."""
        return self._ask("GET", path, by, params=query)

    def make(self, name: str, path: str, body: Row, by: str = "") -> int:
        """Create a record, and remember its id by this name."""
        self.ids[name] = self.post(path, body, by)["id"]
        return self.ids[name]

    def link(self, **names: str | int) -> None:
        """Link two objects, by the names that `make` was given, or ids."""
        found = {key: self.ids[of] if isinstance(of, str) else of for key, of in names.items()}
        self.post("/permissions", found)

    def change(self, path: str, **fields: Any) -> None:
        """Change fields of a record."""
        row = self.get(path)
        self.put(path, {**row, **fields})

    def _ask(self, method: str, path: str, by: str, **sent: Any) -> Any:
        answer = self.users.get(by, self.api).request(method, path, **sent)
        if answer.status_code >= 300:
            raise SystemExit(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return (
            answer.json() if answer.headers.get("content-type", "").startswith("application/json") else None
        )

    def count(self, table: str, where: str = "true") -> int:
        """Return how many rows a table has."""
        return int(self.server.fetch_sql(f"select count(*) from {table} where {where}")[0][0])

    def has(self, table: str) -> bool:
        """Return whether the release has a table."""
        return self.server.fetch_sql(f"select to_regclass('{table}') is not null") == [["t"]]

    def wait(self, table: str, where: str = "true", more: int = 1) -> None:
        """Wait until a table has rows."""
        wait_for(f"{table} where {where}", lambda: self.count(table, where) >= more)

    def report(self, unique_id: str, **fields: Any) -> None:
        """Send a position by the protocol of OsmAnd."""
        answer = httpx.get(
            f"http://127.0.0.1:{self.server.osmand_port}/", params={"id": unique_id, **fields}, timeout=30.0
        )
        answer.raise_for_status()


def wait_for(what: str, probe: Callable[[], object]) -> None:
    """Wait until `probe` returns something true."""
    deadline = time.monotonic() + SECONDS
    while not probe():
        if time.monotonic() > deadline:
            raise SystemExit(f"not within {SECONDS:g} s: {what}")
        time.sleep(0.2)


@contextmanager
def receiver() -> Iterator[str]:
    """Yield the URL of a server of webhooks and gateways: /fails answers 500, /gone 410, /hangs late."""
    ended = Event()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            what = self.path.split("/")[1]
            if what == "hangs":
                ended.wait(300)
            self.send_response({"fails": 500, "gone": 410}.get(what, 200))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Not to the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    Thread(target=server.serve_forever).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        ended.set()
        server.shutdown()
        server.server_close()


def start_release(python: Path, folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start the server of the release."""
    with (folder / LOG_FILE).open("ab") as log:
        command = [str(python), "-m", "motorpool", "serve"]
        return subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)


@contextmanager
def driving(python: Path, server: Server, *options: str) -> Iterator[None]:
    """Have vehicles of the release drive."""
    words = ["--server", server.url, "--port-offset", str(server.offset), *options]
    login = {"MOTORPOOL_SIMULATE_EMAIL": EMAIL, "MOTORPOOL_SIMULATE_PASSWORD": server.password}
    process = subprocess.Popen(
        [str(python), "-m", "motorpool", "simulate", *words],
        cwd=server.folder,
        env={**os.environ, **login},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def totp(key: str) -> str:
    """Return the present one-time code."""
    digest = hmac.digest(base64.b32decode(key), struct.pack(">Q", int(CLOCK.now().timestamp()) // 30), "sha1")
    place = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[place : place + 4])[0] & 0x7FFFFFFF) % 10**6:06}"


def text(instant: datetime) -> str:
    """Return an instant as the API takes it."""
    return instant.strftime("%Y-%m-%dT%H:%M:%SZ")


def make_people(f: Filled) -> None:
    """Create users of every kind, their sessions, tokens and share links."""
    own_mail = {"mail.smtp.host": "127.0.0.1", "mail.smtp.port": 9, "mail.smtp.from": "mia@example.org"}
    reached = {
        "webhook.url": f"{f.receiver}/fails",
        "webhook.secret": WEBHOOK_SECRET,
        "telegramChatId": "4711",
        "ntfyTopic": "fleet",
        "pushoverUserKey": "u" * 30,
        "language": "de",
        "timezone": "Europe/Berlin",
    }
    people: dict[str, Row] = {
        "mia": {"userLimit": -1, "deviceLimit": -1, "phone": "+4930123", "attributes": reached},
        "noah": {"phone": "+4930124", "attributes": {**own_mail, "webhook.url": f"{f.receiver}/hangs"}},
        "olga": {"readonly": True, "attributes": {"webhook.url": f"{f.receiver}/takes"}},
        "paul": {"disabled": True},
        "quentin": {"totpKey": TOTP_KEY, "limitCommands": True, "fixedEmail": True},
        "rosa": {"expirationTime": text(CLOCK.now() + timedelta(hours=3))},
    }
    for name, fields in people.items():
        body = {"name": name.title(), "login": name, "email": f"{name}@example.org", "password": PASSWORD}
        f.make(name, "/users", {**body, **fields})
        f.users[name] = httpx.Client(
            base_url=f.api.base_url, auth=(f"{name}@example.org", PASSWORD), timeout=60.0
        )
    f.link(userId="mia", managedUserId="noah")
    f.link(userId="mia", managedUserId="olga")
    with httpx.Client(base_url=f.api.base_url) as browser:
        form = {"email": "mia@example.org", "password": PASSWORD}
        browser.post("/session", data=form, headers={"User-Agent": "Browser of Mia"}).raise_for_status()
        browser.get(f"/session/{f.ids['noah']}").raise_for_status()
        coded = {"email": "quentin@example.org", "password": PASSWORD, "code": totp(TOTP_KEY)}
        browser.post("/session", data=coded).raise_for_status()
        browser.post("/session", data={**form, "password": "wrong"})
        browser.post("/password/reset", data={"email": "olga@example.org"}).raise_for_status()
    tokens = [f.users["mia"].post("/session/token").raise_for_status().text for _ in range(3)]
    httpx.get(f"{f.server.url}/api/session", params={"token": tokens[0]}).raise_for_status()
    f.users["mia"].post("/session/token/revoke", data={"token": tokens[1]}).raise_for_status()
    f.post("/server/signingkeys")
    f.users["mia"].post("/session/token").raise_for_status()
    f.change(
        "/server",
        announcement="Filled",
        attributes={"speedUnit": "kmh", "event.ignoreDuplicateAlerts": False, "deviceInactivityStart": 1000},
    )


def make_fleet(f: Filled) -> None:
    """Create what is linked to devices, groups and users, each family with each owner."""
    f.make(
        "fleet", "/groups", {"name": "Fleet", "attributes": {"speedLimit": 20, "deviceInactivityStart": 1000}}
    )
    # Here they jump from place to place.
    jumping = {"position.implausibleSpeed": 0}
    f.make("vans", "/groups", {"name": "Vans", "groupId": f.ids["fleet"], "attributes": jumping})
    for number in range(1, 5):
        body = {"name": f"Van {number}", "uniqueId": f"filled-{number}", "groupId": f.ids["vans"]}
        f.make(f"van {number}", "/devices", {**body, "phone": "+4917012345", "category": "van"})
    f.change(f"/devices/{f.ids['van 3']}", attributes={"note": "äöü 车", "list": [1, 2.5, None, True]})
    f.change(f"/devices/{f.ids['van 4']}", expirationTime=text(CLOCK.now() + timedelta(hours=3)))
    data = base64.b64encode(OFFICE_HOURS.encode()).decode()
    calendar = f.make("hours", "/calendars", {"name": "Hours", "data": data})
    f.make("soon", "/calendars", {"name": "Soon", "data": calendar_of_minutes(0.7, 1.3)})
    f.make(
        "depot",
        "/geofences",
        {"name": "Depot", "area": "CIRCLE (52.5 13.4, 500)", "calendarId": calendar, "attributes": {"k": 1}},
    )
    f.make("road", "/geofences", {"name": "Road", "area": "LINESTRING (52.5 13.4, 52.6 13.5)"})
    f.make("driver", "/drivers", {"name": "Dora", "uniqueId": "D-1"})
    f.make(
        "order",
        "/orders",
        {"uniqueId": "O-1", "description": "Parcels", "fromAddress": "A", "toAddress": "B"},
    )
    f.make("service", "/maintenance", {"name": "Oil", "type": "totalDistance", "start": 1000, "period": 1000})
    due = (CLOCK.now() + timedelta(seconds=20)).timestamp() * 1000
    f.make(
        "inspection",
        "/maintenance",
        {"name": "Inspection", "type": "serverTime", "start": due, "period": 9e9},
    )
    computed = {"description": "Twice", "attribute": "twice", "expression": "speed * 2", "type": "number"}
    f.make("computed", "/attributes/computed", computed)
    f.make("lock", "/commands", {"description": "Lock", "type": "custom", "attributes": {"data": "8201"}})
    f.make("where", "/commands", {"description": "Where", "type": "positionSingle", "textChannel": False})
    every = "web,mail,sms,telegram,pushover,ntfy,webhook"
    alarms = {"alarms": "sos,general,lowBattery,fatigueDriving", "priority": True}
    for name, body in {
        "alarm": {"type": "alarm", "always": True, "notificators": every, "attributes": alarms},
        "entered": {"type": "geofenceEnter", "notificators": "command,mail", "commandId": f.ids["lock"]},
        "online": {"type": "deviceOnline", "notificators": "traccar,firebase", "calendarId": calendar},
    }.items():
        f.make(name, "/notifications", {"description": name, **body})
    f.make("weekly", "/reports", {"type": "trips", "description": "Trips", "calendarId": f.ids["soon"]})
    f.make(
        "nightly",
        "/scheduledcommands",
        {
            "name": "Nights",
            "calendarId": f.ids["soon"],
            "onStart": [{"commandId": f.ids["lock"]}, {"commandId": f.ids["where"], "delaySeconds": 3600}],
            "onEnd": [{"commandId": f.ids["lock"], "delaySeconds": 30}],
            "attributes": {"queueMaxMinutes": 600},
        },
    )
    owned = {
        "geofenceId": ("depot", "road"),
        "driverId": ("driver",),
        "maintenanceId": ("service", "inspection"),
        "orderId": ("order",),
        "attributeId": ("computed",),
        "commandId": ("lock", "where"),
        "notificationId": ("alarm", "entered", "online"),
        "scheduledCommandId": ("nightly",),
        "reportId": ("weekly",),
    }
    for key, names in owned.items():
        for name in names:
            f.link(deviceId="van 1", **{key: name})
            f.link(groupId="fleet", **{key: name})
            for user in ("mia", "noah", "olga"):
                f.link(userId=user, **{key: name})
    for user in ("mia", "noah"):
        f.link(userId=user, calendarId="hours")
        f.link(userId=user, groupId="fleet")
    f.link(userId="olga", deviceId="van 1")
    f.link(userId="olga", deviceId="van 2")
    f.link(deviceId="van 1", linkedDeviceId="van 2")
    shift = {"startTime": text(CLOCK.now() - timedelta(days=3)), "endTime": text(CLOCK.now())}
    f.post("/driverassignments", {"deviceId": f.ids["van 2"], "driverId": f.ids["driver"], **shift})
    for name, path in (("device", "van 1"), ("group", "fleet")):
        form = {f"{name}Id": str(f.ids[path]), "expiration": text(CLOCK.now() + timedelta(days=30))}
        f.users["mia"].post(f"/share/{name}", data=form).raise_for_status()


def calendar_of_minutes(begins: float, ends: float) -> str:
    """Return a calendar, as the API takes it, whose window is so many minutes from now."""
    now = CLOCK.now()
    instants = [f"{now + timedelta(minutes=each):%Y%m%dT%H%M%SZ}" for each in (begins, ends)]
    event = (
        f"BEGIN:VEVENT\nUID:soon\nDTSTART:{instants[0]}\nDTEND:{instants[1]}\nRRULE:FREQ=HOURLY\nEND:VEVENT\n"
    )
    return base64.b64encode(
        f"BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:x\n{event}END:VCALENDAR\n".encode()
    ).decode()


def report_days(f: Filled) -> None:
    """Have phones report of days that are over, and of now."""
    begin = CLOCK.now() - timedelta(days=4)
    for number in (1, 2):
        for step in range(30):
            place = {"lat": 52.5 + step * 0.002 * number, "lon": 13.4 + step * 0.003}
            when = int((begin + timedelta(minutes=3 * step, days=step // 15)).timestamp())
            moving = {"speed": 15 + step % 3, "ignition": "true", "driverUniqueId": "D-1", "batt": 90 - step}
            f.report(f"filled-{number}", timestamp=when, **place, **moving)
    for number in (1, 2, 3):
        f.report(f"filled-{number}", lat=52.5, lon=13.4, speed=40, alarm="sos", ignition="true")
        f.report(f"filled-{number}", lat=52.58, lon=13.48, speed=5, ignition="false")
    f.wait("positions", "protocol = 'osmand'", 60)
    span = {"from": text(begin - timedelta(days=1)), "to": text(CLOCK.now())}
    for report in ("trips", "stops", "summary", "events", "route"):
        f.get(f"/reports/{report}", deviceId=[f.ids["van 1"], f.ids["van 2"]], **span)
    f.get("/reports/trips/mail", deviceId=f.ids["van 1"], **span)


def make_helpdesk(f: Filled) -> None:
    """Create companies with webhooks that take, refuse, hang and are disabled, and tickets in every state."""
    webhooks = {"North": "takes", "South": "fails", "East": "hangs", "West": "gone"}
    for name, path in webhooks.items():
        hook = {"url": f"{f.receiver}/{path}", "secret": COMPANY_SECRET}
        body = {"name": name, "uniqueId": name, "attributes": {"ticketWebhook": hook, "timezone": "UTC"}}
        f.make(name, "/companies", body, by="mia")
    for name in webhooks:
        make_company(f, name)
        for number in range(2):
            make_ticket(f, name, number)


def make_company(f: Filled, name: str) -> None:
    """Configure a company, with rules for alarms."""
    of = {"companyId": f.ids[name]}
    made = f.post("/tickets/defaults", of)
    categories = {row["name"]: row for row in made["categories"]}
    statuses = {row["kind"]: row["id"] for row in reversed(made["statuses"])}
    for kind, number in statuses.items():
        f.ids[f"{name} status {kind}"] = number
    f.make(f"{name} team", "/teams", {**of, "name": "Desk", "uniqueId": "T-1"})
    for user in ("mia", "noah"):
        f.put(f"/teams/{f.ids[f'{name} team']}/members/{f.ids[user]}", {})
    branch = {
        **of,
        "name": "Mitte",
        "uniqueId": "B-1",
        "attributes": {"zone": "Z", "geofenceId": f.ids["depot"]},
    }
    f.make(f"{name} branch", "/branches", branch)
    contact = {
        **of,
        "name": "Dora",
        "email": "dora@example.org",
        "driverId": f.ids["driver"],
        "uniqueId": "C-1",
    }
    f.make(f"{name} contact", "/contacts", {**contact, "branchId": f.ids[f"{name} branch"]})
    target = {"level": 1, "firstResponseMinutes": 1, "resolutionMinutes": 600, "calendarId": f.ids["hours"]}
    escalation = {"escalateTeamId": f.ids[f"{name} team"], "warnPercent": 50}
    f.make(
        f"{name} urgent", "/ticketpriorities", {**of, "name": "At once", **target, "attributes": escalation}
    )
    f.ids[f"{name} category"] = categories["Camera"]["id"]
    zone = {**categories["No signal"], "attributes": {"pauseWhenOutside": f.ids["depot"]}}
    f.put(f"/ticketcategories/{zone['id']}", zone)
    f.ids[f"{name} zone"] = zone["id"]
    rule: Row = {
        "name": "SOS",
        "when": {"eventTypes": ["alarm"], "alarms": ["sos", "general", "fatigueDriving"]},
        "then": {"subject": "Emergency", "priorityId": f.ids[f"{name} urgent"]},
        "dedupeMinutes": 60,
        "maxPerHour": 20,
    }
    if name == "North":
        rule["capture"] = {"channel": 1, "beforeSeconds": 5, "afterSeconds": 5}
    company = f.get(f"/companies/{f.ids[name]}", by="mia")
    attributes = {**company["attributes"], "ticketRules": [rule], "autoCloseDays": 7}
    f.put(f"/companies/{f.ids[name]}", {**company, "attributes": attributes}, by="mia")


def make_ticket(f: Filled, company: str, number: int) -> None:
    """Create a ticket of each kind of status, with comments, evidence and assignments."""
    for kind, way in WAYS.items():
        body = {
            "companyId": f.ids[company],
            "subject": f"{kind} {number}",
            "description": "It does not work: äöü",
            "uniqueId": f"{kind}-{number}",
            "categoryId": f.ids[f"{company} {'category' if number else 'zone'}"],
            "priorityId": f.ids[f"{company} urgent"],
            "contactId": f.ids[f"{company} contact"],
            "branchId": f.ids[f"{company} branch"],
            "teamId": f.ids[f"{company} team"],
            "deviceId": f.ids[f"van {1 + number % 2}"],
            "attributes": {"tags": ["red", "blue"]},
        }
        ticket = f.make(f"{company} {kind}", "/tickets", body, by="mia")
        path = f"/tickets/{ticket}"
        if kind == "new":
            continue
        f.users["mia"].post(
            f"{path}/comments",
            json={"text": "Seen", "internal": number == 0},
            headers={"Idempotency-Key": f"{company}-{kind}-{number}"},
        ).raise_for_status()
        f.post(f"{path}/assign", {"assigneeId": f.ids["noah"], "comment": "Yours"}, by="mia")
        for step in way:
            f.post(
                f"{path}/transition",
                {"statusId": f.ids[f"{company} status {step}"], "comment": "Moved"},
                by="noah",
            )
        if kind == "resolved" and number == 1:
            f.post(f"{path}/comments", {"text": "Not so", "onBehalfOfContact": True}, by="mia")


def use_vehicles(f: Filled) -> None:
    """Send commands to vehicles with cameras, film them, and make what they film evidence."""
    f.wait("device_states", "true", 4)
    # The tickets of the first van wait while it is outside of their zone.
    f.report("filled-1", lat=52.7, lon=13.4)
    f.wait("ticket_pauses", "reason = 'outsideZone'")
    terminals = "unique_id like '138%' and id in (select device_id from homes where node is not null)"
    f.wait("devices", terminals, 3)
    vehicles = [int(row[0]) for row in f.server.fetch_sql(f"select id from devices where {terminals}")]
    first, second = vehicles[:2]
    f.ids["filmed"], f.ids["second"] = first, second
    for user in ("mia", "noah"):
        for each in vehicles:
            f.link(userId=user, deviceId=each)
    f.link(deviceId=first, scheduledCommandId="nightly")
    now = CLOCK.now()
    span = {"startTime": text(now - timedelta(hours=3)), "endTime": text(now - timedelta(minutes=5))}
    for each in vehicles:
        listing = {"deviceId": each, "type": "videoPlaybackList", "attributes": {"channel": 0, **span}}
        f.post("/commands/send", listing)
    f.wait("recordings")
    ticket = f.ids["North open"]
    f.change(f"/tickets/{ticket}", deviceId=first)
    f.post("/commands/send", {"deviceId": first, "type": "positionSingle", "ticketId": ticket}, by="mia")
    queued = {"type": "custom", "attributes": {"data": "8201"}}
    for number in (1, 3, 4):
        f.post("/commands/send", {"deviceId": f.ids[f"van {number}"], **queued}, by="mia")
    for _ in range(2):
        f.post("/commands/send", {"deviceId": f.ids["van 4"], "ticketId": ticket, **queued}, by="mia")
    f.post(f"/scheduledcommands/{f.ids['nightly']}/run")
    f.users["mia"].get(f"/stream/{first}/1/live.m3u8").raise_for_status()
    capture = f.post("/captures", deviceId=first, channel=1, live=True, by="mia")
    f.wait("captures", "size > 0")
    f.users["mia"].delete(f"/captures/{capture['id']}").raise_for_status()
    f.wait("captures", "status = 'COMPLETE'")
    f.post(f"/tickets/{ticket}/comments", {"text": "The film", "captureId": capture["id"]}, by="mia")
    film = {
        "channel": 1,
        "startTime": text(now - timedelta(minutes=20)),
        "endTime": text(now - timedelta(minutes=19)),
    }
    f.post("/footagerequests", {"deviceId": f.ids["van 4"], **film}, by="mia")
    f.post("/footagerequests", {"deviceId": first, **film}, by="mia")
    f.wait("ticket_files")


def review_and_keep(f: Filled) -> None:
    """Review events, keep a film and a still, and change settings at run time."""
    waiting = "review ->> 'state' = 'OPEN' and device_id in ({}, {})".format(f.ids["van 1"], f.ids["van 2"])
    found = f.server.fetch_sql(f"select id from events where {waiting} order by id limit 2")
    for (number,), state in zip(found, ("ACKNOWLEDGED", "DISMISSED"), strict=True):
        f.put(f"/events/{number}/review", {"state": state, "note": "Seen: äöü"}, by="mia")
    film = next(each for each in f.get("/media", by="mia")["items"] if each["kind"] == "capture")
    f.put(film["url"].removeprefix("/api"), {"kept": True}, by="mia")
    still = {"channel": 1, "time": text(CLOCK.now() - timedelta(minutes=20))}
    f.users["mia"].post(
        f"/devices/{f.ids['filmed']}/stills",
        params=still,
        content=b"\x89PNG\r\n\x1a\n" + bytes(20),
        headers={"Content-Type": "image/png"},
    ).raise_for_status()
    changed = {"map": {"attribution": "Filled"}, "geocoder": {"key": "a-key-of-the-dump"}}
    f.put("/server/settings", {**changed, "currentPassword": f.server.password})


def leave_in_the_middle(f: Filled, locked: Callable[[str], None]) -> None:
    """Begin what is not ended when the server is killed."""
    company = f.get(f"/companies/{f.ids['North']}", by="mia")
    hook = {**company["attributes"]["ticketWebhook"], "url": f"{f.receiver}/hangs"}
    body = {**company, "attributes": {**company["attributes"], "ticketWebhook": hook}}
    f.put(f"/companies/{f.ids['North']}", body, by="mia")
    for kind in ("resolved", "open"):
        f.post(f"/tickets/{f.ids[f'North {kind}']}/comments", {"text": "For a receiver that hangs"}, by="mia")
    f.wait("receivers", "lane = 'ticket webhook' and leased_until is not null")
    film = CLOCK.now() - timedelta(minutes=40)
    span = {"startTime": text(film), "endTime": text(film + timedelta(minutes=5))}
    f.post("/footagerequests", {"deviceId": f.ids["second"], "channel": 1, **span}, by="mia")
    f.users["mia"].get(f"/stream/{f.ids['filmed']}/1/live.m3u8").raise_for_status()
    capture = f.post("/captures", deviceId=f.ids["filmed"], channel=1, live=True, by="mia")
    f.wait("captures", "status = 'RECORDING' and size > 0")
    f.post(f"/tickets/{f.ids['North open']}/comments", {"text": "More", "captureId": capture["id"]}, by="mia")
    f.wait("footage_requests", "status = 'FETCHING' and device_id = " + str(f.ids["second"]))
    if f.has("differing_logins"):
        # A telephone under the number of a terminal is refused.
        ((number,),) = f.server.fetch_sql(f"select unique_id from devices where id = {f.ids['second']}")
        httpx.get(f"http://127.0.0.1:{f.server.osmand_port}/", params={"id": number, "lat": 1, "lon": 2})
        f.wait("differing_logins")
    f.api.delete(f"/devices/{f.ids['gone']}").raise_for_status()
    f.report("filled-3", lat=52.505, lon=13.405, alarm="fatigueDriving")
    f.wait("ticket_captures", "status = 'waiting'")
    f.wait("receivers", "receiver < 0 and leased_until > now()")
    locked("deliveries, ticket_events")
    f.report("filled-3", lat=52.51, lon=13.41, alarm="sos")
    f.report("filled-3", lat=52.52, lon=13.42, alarm="lowBattery")
    f.wait("unmatched_events")
    f.wait("ticket_rule_events")
    ((queued,),) = f.server.fetch_sql(
        "select max(queued_command_id) from ticket_commands where status = 'queued'"
    )
    f.users["mia"].delete(f"/commands/queue/{queued}").raise_for_status()
    f.wait("ticket_command_news")
    if f.has("ticket_presences"):
        f.put(f"/tickets/{f.ids['North open']}/presence", {"state": "WRITING"}, by="mia")
    day = {"from": text(CLOCK.now() - timedelta(days=5)), "to": text(CLOCK.now())}
    f.users["noah"].get("/reports/trips/mail", params={"deviceId": f.ids["van 1"], **day}).raise_for_status()
    f.wait("report_mails")


def main() -> None:
    """Fill the database of a release, and dump it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("checkout", type=Path, nargs="?", default=Path(__file__).parents[3])
    args = parser.parse_args()
    python = args.checkout / ".venv" / "bin" / "python"
    version = subprocess.run(
        [str(python), "-m", "motorpool", "--version"], capture_output=True, check=True, text=True
    ).stdout.split()[-1]
    file = dump_of(version)
    if file.exists():
        parser.error(f"{file} is there already: what a release has left never changes")
    node = free_port()
    with ExitStack() as stack:
        url = stack.enter_context(receiver())
        settings = {
            "MOTORPOOL_DATABASE": stack.enter_context(database()),
            "MOTORPOOL_ADMIN_PASSWORD": PASSWORD,
            "MOTORPOOL_ENCRYPTION_KEYS": ENCRYPTION_KEY,
            "MOTORPOOL_CLUSTER_NAME": "filled",
            "MOTORPOOL_NODE_ADDRESS": f"http://127.0.0.1:{node}",
            "MOTORPOOL_WEBHOOK_ALLOW": "127.0.0.0/8",
            "MOTORPOOL_MAIL_HOST": "127.0.0.1",
            "MOTORPOOL_MAIL_PORT": "9",
            "MOTORPOOL_MAIL_SECURITY": "none",
            "MOTORPOOL_MAIL_ADDRESS": "fleet@example.org",
            "MOTORPOOL_SMS_URL": f"{url}/fails",
            "MOTORPOOL_TELEGRAM_TOKEN": "1:a",
            "MOTORPOOL_TELEGRAM_URL": f"{url}/hangs",
            "MOTORPOOL_NTFY_TOKEN": "a",
            "MOTORPOOL_NTFY_URL": f"{url}/fails",
            "MOTORPOOL_PUSHOVER_TOKEN": "a",
            "MOTORPOOL_PUSHOVER_URL": f"{url}/fails",
            # Many wait for the table that is locked at the end.
            "MOTORPOOL_POSTGRES_POOL_SIZE": "40",
            "MOTORPOOL_EXPIRATIONS_USERS": "true",
            "MOTORPOOL_EXPIRATIONS_DEVICES": "true",
            "MOTORPOOL_EXPIRATIONS_REMINDER_DAYS": "1",
            "MOTORPOOL_RULES_EVENT_STATUS_ENABLE": "true",
        }
        server = stack.enter_context(run_server(settings, partial(start_release, python)))
        server.password = PASSWORD
        try:
            fill(Filled(server, url), python, file)
        except BaseException:
            sys.stderr.write("\n".join(x for x in server.log.splitlines()[-60:] if " INFO " not in x) + "\n")
            raise


@contextmanager
def database() -> Iterator[str]:
    """Yield the URL of an empty database: servers of a cluster have none of their own."""
    with tempfile.TemporaryDirectory(prefix="motorpool-filled-") as name:
        # PostgreSQL may run as another user, who must be able to enter the folder.
        Path(name).chmod(0o755)
        postgres = EmbeddedServer(Path(name), max_connections=100)
        trio.run(postgres.start)
        try:
            fetch_rows(postgres.url(), "create database motorpool")
            yield postgres.url("motorpool")
        finally:
            trio.run(postgres.stop)


def fill(f: Filled, python: Path, file: Path) -> None:
    """Use the server, kill it, and dump its database."""
    with ExitStack() as stack:
        for options in (
            ("--vehicles", "3", "--alarms", "20", "--interval", "10", "--channels", "1"),
            ("--protocol", "teltonika", "--vehicles", "1", "--interval", "20"),
            ("--protocol", "gt06", "--vehicles", "1", "--interval", "20", "--seed", "2"),
        ):
            stack.enter_context(driving(python, f.server, *options))
        make_people(f)
        make_fleet(f)
        report_days(f)
        make_helpdesk(f)
        use_vehicles(f)
        if f.has("kept_files"):
            review_and_keep(f)
        f.change(f"/ticketpriorities/{f.ids['North urgent']}", resolutionMinutes=300)
        f.make("gone", "/devices", {"name": "Gone", "uniqueId": "filled-gone"})
        f.wait("ticket_breaches")
        f.wait("ticket_recalculations")
        f.wait("scheduled_command_runs", "phase = 'end'")
        # Those that have got nothing fail with the end of the server.
        f.wait("captures", "status = 'RECORDING' and size = 0")
        f.server.restart()
        f.wait("mailed_expirations", more=2)
        time.sleep(10)
        psql = [str(binaries() / "psql"), "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", f.server._conninfo()]
        other = stack.enter_context(subprocess.Popen(psql, stdin=subprocess.PIPE, text=True))

        def locked(tables: str) -> None:
            assert other.stdin is not None
            other.stdin.write(f"begin; lock table {tables} in share row exclusive mode;\n")
            other.stdin.flush()
            time.sleep(1)

        leave_in_the_middle(f, locked)
        f.server.process.kill()
        f.server.process.wait()
        assert other.stdin is not None
        other.stdin.close()
        other.wait()
    f.server.run_sql(SQL)
    dump = [str(binaries() / "pg_dump"), "--no-owner", "--no-privileges", "-d", f.server._conninfo()]
    content = subprocess.run(dump, capture_output=True, check=True).stdout
    file.write_bytes(gzip.compress(content, 9, mtime=0))
    report(f)


def report(f: Filled) -> None:
    """Print how many rows each table has. Ends the program by an error where one has none."""
    tables = f.server.fetch_sql(
        "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')"
        " and not relispartition order by 1"
    )
    counts = {name: f.count(name) for (name,) in tables}
    for name, count in counts.items():
        print(f"{count:6} {name}")
    if empty := [name for name, count in counts.items() if not count]:
        raise SystemExit(f"tables without rows: {', '.join(empty)}")


if __name__ == "__main__":
    main()
