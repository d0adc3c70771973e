"""A server of this release on a database that an earlier one has filled."""

import httpx
import pytest
import trio
from tests.storage.filled.fill import ENCRYPTION_KEY, PASSWORD, TOTP_KEY, totp
from tests.storage.filled.loading import contents
from tests.storage.filled.migrating import open_session
from tests.storage.filled.releases import releases

from motorpool.bench.server import EMAIL
from motorpool.storage.postgres import dumps

KEPT_FOR_EVER = {
    # However late the test runs.
    f"MOTORPOOL_{name}_RETENTION_DAYS": "0"
    for name in ("POSITIONS", "EVENTS", "AUDIT", "STATISTICS", "CAPTURES", "FILES", "SCHEDULES")
}
LISTED = {
    "users": "users",
    "groups": "groups",
    "devices": "devices",
    "geofences": "geofences",
    "calendars": "calendars",
    "drivers": "drivers",
    "orders": "orders",
    "maintenance": "maintenance",
    "attributes/computed": "computed_attributes",
    "notifications": "notifications",
    "commands": "commands",
    "scheduledcommands": "scheduled_commands",
    "reports": "scheduled_reports",
    "companies": "companies",
    "branches": "branches",
    "teams": "teams",
    "contacts": "contacts",
    "ticketcategories": "ticket_categories",
    "ticketpriorities": "ticket_priorities",
    "ticketstatuses": "ticket_statuses",
    "tickets": "tickets",
}
"""Paths of lists, and the tables they are of."""


async def read(url):
    async with open_session(url) as session:
        return await contents(session)


def test_a_server_goes_on_with_the_database(filled_url, start_server):
    check_served(filled_url, start_server)


@pytest.mark.parametrize("release", releases(recent=1))
def test_a_server_goes_on_with_the_database_that_was_moved_to_an_older_postgresql(
    filled_url, make_older, start_server
):
    target = make_older()
    dumps.copy(filled_url, target)
    check_served(target, start_server)


def check_served(url, start_server):
    """Start a server on a database, and look whether all is there."""
    stored = trio.run(read, url)
    settings = {"MOTORPOOL_DATABASE": url, "MOTORPOOL_ENCRYPTION_KEYS": ENCRYPTION_KEY, **KEPT_FOR_EVER}
    with start_server(settings) as server:
        auth = (EMAIL, PASSWORD)
        with httpx.Client(base_url=f"{server.url}/api", auth=auth, timeout=60.0) as client:
            for path, table in LISTED.items():
                answer = client.get(f"/{path}", params={"all": True, "limit": 1000})
                ids = sorted(row["id"] for row in answer.raise_for_status().json())
                kept = sorted(row["id"] for row in stored[table])
                if table == "tickets":
                    # Rules make more, of events of today for which they had no time before.
                    ids = [number for number in ids if number in kept]
                assert ids == kept, path
            span = {"from": "2000-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
            for device in stored["devices"]:
                query = {"deviceId": device["id"], **span}
                route = client.get("/reports/route", params=query).raise_for_status().json()
                fixes = sorted(row["id"] for row in stored["positions"] if row["device_id"] == device["id"])
                assert sorted(row["id"] for row in route) == fixes
                client.get("/reports/trips", params=query).raise_for_status()
            for ticket in (row for row in stored["tickets"] if row["company_id"] == 1):
                history = client.get(f"/tickets/{ticket['id']}/events", params={"limit": 1000})
                entries = sorted(
                    row["id"] for row in stored["ticket_events"] if row["ticket_id"] == ticket["id"]
                )
                assert set(entries) <= {row["id"] for row in history.raise_for_status().json()}
                client.get(f"/tickets/{ticket['id']}/sla").raise_for_status()
            deliveries = client.get("/companies/1/webhook/deliveries", params={"limit": 1000}).json()
            told = stored.get("ticket_messages", stored.get("deliveries"))
            assert len(deliveries) >= sum(row["company_id"] == 1 for row in told)
        with httpx.Client(base_url=f"{server.url}/api", timeout=60.0) as browser:
            shut_out = {"email": "paul@example.org", "password": PASSWORD}
            assert browser.post("/session", data=shut_out).status_code == 401
            form = {"email": "quentin@example.org", "password": PASSWORD}
            assert browser.post("/session", data=form).status_code == 401
            coded = browser.post("/session", data={**form, "code": totp(TOTP_KEY)})
            assert coded.raise_for_status().json()["login"] == "quentin"
