"""Scheduled commands whose windows open and close every few seconds, for some devices."""

import base64
from collections.abc import Sequence
from datetime import UTC, datetime

import httpx
import msgspec

from motorpool.bench.options import BenchError

TEXT = "shift"
"""What a device is sent at each edge."""
PERIOD_SECONDS, OPEN_SECONDS = 4, 2


class FrequentSchedules(msgspec.Struct, frozen=True):
    """What is due."""

    targets: tuple[tuple[int, int], ...]
    """Schedules, each with its device."""
    starts: tuple[float, ...]
    """Seconds since 1970."""
    ends: tuple[float, ...]

    def due(self, first: float, last: float) -> dict[str, tuple[float, ...]]:
        """Return the edges between two instants, by phase."""
        return {
            phase: tuple(at for at in instants if first <= at <= last)
            for phase, instants in (("start", self.starts), ("end", self.ends))
        }


def text_command(text: str) -> dict[str, object]:
    """Return the type and the attributes of a command that shows a text (0x8300)."""
    return {"type": "message", "attributes": {"message": text}}


async def make_frequent_schedules(
    client: httpx.AsyncClient, devices: Sequence[int], begin: float, seconds: float
) -> FrequentSchedules:
    """Create a scheduled command for each device; windows open from `begin` on, for `seconds`.

    Raises:
        BenchError: the server refuses.
    """
    command = await _post(client, "/commands", {"description": TEXT, **text_command(TEXT)})
    count = int(seconds / PERIOD_SECONDS)
    starts = tuple(round(begin) + PERIOD_SECONDS * place for place in range(count))
    ends = tuple(start + OPEN_SECONDS for start in starts)
    data = base64.b64encode(_calendar(starts, ends).encode()).decode()
    calendar = await _post(client, "/calendars", {"name": "FrequentSchedules", "data": data})
    step = [{"commandId": command["id"], "delaySeconds": 0}]
    targets = []
    for device in devices:
        body = {"name": f"Shift of {device}", "calendarId": calendar["id"], "onStart": step, "onEnd": step}
        schedule = await _post(client, "/scheduledcommands", {**body, "attributes": {"queueMaxMinutes": 5}})
        link = {"deviceId": device, "scheduledCommandId": schedule["id"]}
        answer = await client.post("/permissions", json=link)
        if answer.status_code != 204:
            raise BenchError(f"POST /permissions answered {answer.status_code}: {answer.text[:200]}")
        targets.append((int(str(schedule["id"])), device))
    return FrequentSchedules(tuple(targets), tuple(map(float, starts)), tuple(map(float, ends)))


def _calendar(starts: Sequence[int], ends: Sequence[int]) -> str:
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//motorpool//bench//EN"]
    for start, end in zip(starts, ends, strict=True):
        lines += ["BEGIN:VEVENT", f"UID:{start}@bench", f"DTSTART:{_stamp(start)}", f"DTEND:{_stamp(end)}"]
        lines.append("END:VEVENT")
    return "".join(f"{line}\r\n" for line in (*lines, "END:VCALENDAR"))


def _stamp(instant: int) -> str:
    return datetime.fromtimestamp(instant, UTC).strftime("%Y%m%dT%H%M%SZ")


async def _post(client: httpx.AsyncClient, path: str, body: dict[str, object]) -> dict[str, object]:
    answer = await client.post(path, json={"attributes": {}, **body})
    if answer.status_code != 200:
        raise BenchError(f"POST {path} answered {answer.status_code}: {answer.text[:200]}")
    record: dict[str, object] = answer.json()
    return record
