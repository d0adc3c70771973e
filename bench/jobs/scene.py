"""What the jobs are done with: a server with the demonstration, and vehicles of it that suit them."""

import re
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import msgspec

from motorpool.bench.jobs.hand import Hand

PATIENCE_SECONDS = 600.0
"""Allowed for the vehicles to send their last two days."""
_ASK_SECONDS = 2.0
_RECENT = timedelta(minutes=3)
_OVER = timedelta(minutes=20)
_SETTLED = timedelta(minutes=5)
"""Recorded video of a job begins so long after a vehicle drove off."""


class Subject(msgspec.Struct, frozen=True):
    """A vehicle of the demonstration."""

    id: int
    name: str
    unique_id: str
    latitude: float
    longitude: float


class Scene:
    """A server with the demonstration, as it is reached from outside."""

    def __init__(self, url: str, email: str, password: str, report_url: str) -> None:
        self.url = url
        self._report_url = report_url
        self._client = httpx.Client(base_url=f"{url}/api", auth=(email, password), timeout=60)

    def await_vehicles(self) -> None:
        """Wait until the archives are sent and one drives; choose the vehicles.

        Raises:
            TimeoutError: no vehicle drives.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            found = {row["id"]: row for row in self.rows("/devices")}
            with_cameras = [
                (found[place["deviceId"]], place)
                for place in self.rows("/positions")
                if found[place["deviceId"]]["attributes"].get("channels")
                and found[place["deviceId"]]["status"] == "online"
            ]
            now = datetime.now(UTC)
            recent = [
                (row, place)
                for row, place in with_cameras
                if now - datetime.fromisoformat(place["fixTime"]) < _RECENT
            ]
            driving = [_subject(*pair) for pair in recent if pair[1]["speed"] > 0]
            standing = [_subject(*pair) for pair in recent if pair[1]["speed"] == 0]
            if driving and standing and len(recent) == len(with_cameras):
                self.driving, self.standing = driving[0], standing[0]
                return
            time.sleep(_ASK_SECONDS)
        raise TimeoutError("no vehicle of the demonstration drives")

    def drove_at(self) -> datetime:
        """Return an instant of today, in whole minutes, at which the vehicle that drives now drove.

        Raises:
            LookupError: it has not driven for long enough today.
        """
        now = datetime.now(UTC)
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        trips = self.rows(
            "/reports/trips",
            deviceId=self.driving.id,
            **{"from": midnight.isoformat(), "to": now.isoformat()},
        )
        for trip in reversed(trips):
            at = datetime.fromisoformat(trip["startTime"]).astimezone(UTC) + _SETTLED
            if now - at > _OVER:
                return at.replace(second=0, microsecond=0)
        raise LookupError(f"{self.driving.name} has not driven long enough today")

    def add_vehicle(self, name: str) -> None:
        """Make a vehicle with two cameras that reports as a phone does, by its name."""
        self.remove("/devices", name)
        body = {"name": name, "uniqueId": name, "attributes": {"channels": 2}}
        self._client.post("/devices", json=body).raise_for_status()

    def add_ticket(self, subject: str) -> None:
        """Make a ticket of the most urgent priority that nobody has."""
        company = self.rows("/companies")[0]["id"]
        priority = min(self.rows("/ticketpriorities", companyId=company), key=lambda row: row["level"])
        body = {"companyId": company, "subject": subject, "priorityId": priority["id"]}
        self._client.post("/tickets", json=body).raise_for_status()

    def report(self, unique_id: str, latitude: float, longitude: float, **values: str) -> None:
        """Report as a phone does (OsmAnd)."""
        place = {"id": unique_id, "lat": str(latitude), "lon": str(longitude)}
        httpx.get(self._report_url, params={**place, **values}, timeout=60).raise_for_status()

    def rows(self, path: str, **query: object) -> list[dict[str, Any]]:
        """Read a list of the API."""
        answer = self._client.get(path, params={name: str(value) for name, value in query.items()})
        answer.raise_for_status()
        rows: list[dict[str, Any]] = answer.json()
        return rows

    def remove(self, path: str, name: str) -> None:
        """Delete the rows of this name."""
        for row in self.rows(path):
            if row["name"] == name:
                self._client.delete(f"{path}/{row['id']}").raise_for_status()

    def open_fleet(self, hand: Hand, name: str) -> None:
        """Begin before the list of the fleet, with a vehicle in it that is known to the page."""
        row = hand.page.get_by_role("link", name=re.compile(name))
        hand.begin(f"{self.url}/fleet", row)

    def open_vehicle(self, hand: Hand, name: str) -> None:
        """Find a vehicle by its name, by keys alone."""
        hand.key("/")
        hand.page.keyboard.type(name)
        hand.key("Enter")
        hand.page.get_by_role("heading", name=name).wait_for()


def _subject(row: dict[str, Any], place: dict[str, Any]) -> Subject:
    return Subject(row["id"], row["name"], row["uniqueId"], place["latitude"], place["longitude"])
