"""Scheduled commands on a server of the bench: one for each terminal, their windows and their run records."""

import base64
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial

import httpx
import msgspec

from motorpool.bench.options import BenchError
from motorpool.bench.server import Server

AT_ONCE = 4
"""Concurrent requests: enough to keep the server busy, without a queue."""
ROWS_AT_ONCE = 1000
"""Rows in one statement: what fits the command line of psql."""
POLL_SECONDS = 0.5
"""Interval of polling for run records."""
START_COMMAND, END_COMMAND = "positionSingle", "positionStop"
COMMAND_MESSAGE = 0x8201
"""The message that START_COMMAND becomes for a JT/T 808 terminal."""


class Window(msgspec.Struct, frozen=True):
    """An event that recurs every day."""

    start: datetime
    end: datetime

    def text(self) -> str:
        """Return the calendar with this event, as the API expects it."""
        lines = (
            "BEGIN:VCALENDAR",
            "VERSION:2.0",
            "PRODID:-//motorpool//bench//EN",
            "BEGIN:VEVENT",
            "UID:window@bench",
            f"DTSTART:{_stamp(self.start)}",
            f"DTEND:{_stamp(self.end)}",
            "RRULE:FREQ=DAILY",
            "END:VEVENT",
            "END:VCALENDAR",
        )
        return base64.b64encode("".join(f"{line}\r\n" for line in lines).encode()).decode()


class Run(msgspec.Struct, frozen=True):
    """The checked fields of a run record."""

    schedule: int
    device: int
    status: str
    reason: str
    epoch: float
    """Its `time`, in seconds since 1970."""


class Schedules:
    """Scheduled commands of the administrator on shared calendars; their windows open and close together."""

    def __init__(self, server: Server, client: httpx.Client, calendars: int) -> None:
        self._server = server
        self._client = client
        soon = datetime.now(UTC) + timedelta(hours=12)
        self._start_command = self._make("commands", {"type": START_COMMAND})
        self._end_command = self._make("commands", {"type": END_COMMAND})
        text = Window(soon, soon + timedelta(hours=1)).text()
        self._calendars = [
            self._make("calendars", {"name": f"Shift {number}", "data": text}) for number in range(calendars)
        ]

    def make(self, phones: Sequence[str]) -> None:
        """Create a device for each phone number, and a scheduled command for each device.

        Raises:
            BenchError: PostgreSQL refuses it.
        """
        administrator = "(select id from users order by id limit 1)"
        calendars = f"(array[{','.join(map(str, self._calendars))}])"
        steps = f"{_step(self._start_command)}, {_step(self._end_command)}"
        for first in range(0, len(phones), ROWS_AT_ONCE):
            values = ",".join(f"('{phone}')" for phone in phones[first : first + ROWS_AT_ONCE])
            # All values are numbers that the bench made.
            self._server.run_sql(
                "with terminals as (insert into devices (name, unique_id)"  # noqa: S608
                f"  select 'Terminal ' || phone, phone from (values {values}) as given (phone) returning id),"
                f" seen as (insert into user_device (user_id, device_id) select {administrator}, id"
                "  from terminals),"
                " made as (insert into scheduled_commands"
                "  (name, calendar_id, on_start, on_end, owner_id, watched_from)"
                f"  select 'Shift of ' || id, {calendars}[1 + id % {len(self._calendars)}], {steps},"
                f"   {administrator}, now() from terminals returning id),"
                " owned as (insert into user_scheduled_command (user_id, scheduled_command_id)"
                f"  select {administrator}, id from made)"
                " insert into device_scheduled_command (device_id, scheduled_command_id)"
                "  select terminals.id, made.id"
                "  from (select id, row_number() over (order by id) as place from terminals) as terminals"
                "  join (select id, row_number() over (order by id) as place from made) as made using (place)"
            )

    def set_window(self, window: Window) -> float:
        """Replace the event of every calendar, and return the seconds that took.

        Raises:
            BenchError: the server refuses.
        """
        begun = time.perf_counter()
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(partial(self._replace, window.text()), range(len(self._calendars))))
        return time.perf_counter() - begun

    def await_history(self, phase: str, count: int, seconds: float) -> float:
        """Wait until `count` steps of a phase have ended, at most `seconds`; return the time, since 1970."""
        deadline = time.monotonic() + seconds
        ended = (
            "select count(*) from scheduled_command_runs"  # noqa: S608 - constant text
            f" where phase = '{phase}' and status not in ('pending', 'sending', 'queued', 'delivering')"
        )
        while int(self._server.fetch_sql(ended)[0][0]) < count and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return time.time()

    def history(self, phase: str) -> list[Run]:
        """Return all records of a phase, the earliest first."""
        rows = self._server.fetch_sql(
            "select scheduled_command_id, device_id, status, reason, extract(epoch from time)"  # noqa: S608
            f" from scheduled_command_runs where phase = '{phase}' order by time, id"
        )
        return [Run(int(row[0]), int(row[1]), row[2], row[3], float(row[4])) for row in rows]

    def _replace(self, text: str, place: int) -> None:
        number = self._calendars[place]
        body = {"id": number, "name": f"Shift {place}", "data": text, "attributes": {}}
        _ask(self._client, "PUT", f"/calendars/{number}", body)

    def _make(self, family: str, body: Mapping[str, object]) -> int:
        return int(str(_ask(self._client, "POST", f"/{family}", {"attributes": {}, **body})["id"]))


def _step(command: int) -> str:
    return f"'{msgspec.json.encode([{'commandId': command, 'delaySeconds': 0}]).decode()}'::jsonb"


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y%m%dT%H%M%SZ")


def _ask(client: httpx.Client, method: str, path: str, body: Mapping[str, object]) -> Mapping[str, object]:
    answer = client.request(method, path, json=body)
    if answer.status_code != 200:
        raise BenchError(f"{method} {path} answered {answer.status_code}: {answer.text[:200]}")
    record: Mapping[str, object] = answer.json()
    return record
