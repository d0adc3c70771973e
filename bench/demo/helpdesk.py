"""The helpdesk of the demonstration: a company, who works there, and tickets in several states."""

from collections.abc import Mapping
from typing import NamedTuple

from motorpool.bench.demo.api import Api, Row

COMPANY = "Berlin Logistics"
SOS_RULE: Row = {
    "name": "Emergency button",
    "when": {"eventTypes": ["alarm"], "alarms": ["sos"]},
    "then": {"subject": "Emergency button pressed"},
    "dedupeMinutes": 60,
    "maxPerHour": 20,
    "capture": {"channel": 1, "beforeSeconds": 15, "afterSeconds": 15},
}


class Case(NamedTuple):
    """A ticket, and what was done about it."""

    subject: str
    description: str
    category: str
    device: str
    contact: str
    comments: tuple[tuple[str, bool], ...] = ()
    """Texts, and whether the contact wrote them."""
    status: str = ""
    """The last status; empty: the first one."""
    taken: bool = False


CASES = (
    Case(
        "Van 08 does not report any more",
        "Last position yesterday evening, in the yard of the workshop.",
        "No signal",
        "Van 08",
        "Sofia Rossi",
        (("Is its battery disconnected?", False), ("Yes, until Wednesday.", True)),
        "Waiting for vehicle",
        taken=True,
    ),
    Case(
        "Rear camera is dirty",
        "The picture of the second camera is blurred since the rain.",
        "Camera",
        "Bus 04",
        "Jonas Weber",
        (("Please clean the lens at the depot.", False),),
        "Waiting for contact",
        taken=True,
    ),
    Case(
        "Film of a damaged parcel",
        "The customer needs the loading bay from yesterday, 15:00 to 15:10.",
        "Footage request",
        "Van 02",
        "Murat Yilmaz",
    ),
    Case(
        "Noise when braking",
        "Louder at low speed.",
        "Maintenance",
        "Van 06",
        "Sofia Rossi",
        (("Workshop booked for Thursday.", False),),
        "In progress",
        taken=True,
    ),
    Case(
        "New SIM card for Van 03",
        "The old one ends with the month.",
        "SIM and data",
        "Van 03",
        "Murat Yilmaz",
        (("Replaced, and online again.", False),),
        "Resolved",
        taken=True,
    ),
    Case(
        "Login for the new dispatcher",
        "She starts on Monday.",
        "Account and access",
        "",
        "Anna Lehmann",
    ),
)


async def configure_helpdesk(
    api: Api, devices: Mapping[str, Row], operator: int, office_hours: int, depot: int
) -> None:
    """Create the company with team, branch, contacts, service levels and tickets.

    `operator`, `office_hours` and `depot` are ids: of the user who joins the team, of the service levels'
    calendar and of the branch's geofence.
    """
    company = await api.ensure(
        "/companies",
        {"name": COMPANY, "attributes": {"roles": ["fleet"], "timezone": "Europe/Berlin"}},
    )
    of = {"companyId": company["id"]}
    defaults = await api.post("/tickets/defaults", of)
    for priority in defaults["priorities"]:
        if priority["level"] > 1 and not priority["calendarId"]:
            await api.put(f"/ticketpriorities/{priority['id']}", {**priority, "calendarId": office_hours})
    categories = {row["name"]: row["id"] for row in defaults["categories"]}
    statuses = {row["name"]: row["id"] for row in defaults["statuses"]}
    query = {"companyId": str(company["id"])}
    team = await api.ensure("/teams", {**of, "name": "Fleet desk"}, **query)
    me = (await api.row("/session"))["id"]
    for user in (me, operator):
        await api.put(f"/teams/{team['id']}/members/{user}", {})
    branch = await api.ensure(
        "/branches", {**of, "name": "Mitte", "attributes": {"zone": "Berlin", "geofenceId": depot}}, **query
    )
    await _add_rule(api, company, categories["Accident"])
    contacts = await _make_contacts(api, of, branch["id"], query)
    known = {row["subject"] for row in await api.rows("/tickets", **query)}
    for case in CASES:
        if case.subject not in known:
            await _open(
                api,
                case,
                {
                    **of,
                    "branchId": branch["id"],
                    "teamId": team["id"],
                    "categoryId": categories[case.category],
                    "contactId": contacts[case.contact],
                    "deviceId": devices[case.device]["id"] if case.device else 0,
                },
                statuses,
                me,
            )


async def _add_rule(api: Api, company: Row, category: int) -> None:
    company = await api.row(f"/companies/{company['id']}")
    if "ticketRules" not in company["attributes"]:
        rule = {**SOS_RULE, "then": {**SOS_RULE["then"], "categoryId": category}}
        attributes = {**company["attributes"], "ticketRules": [rule]}
        await api.put(f"/companies/{company['id']}", {**company, "attributes": attributes})


async def _make_contacts(
    api: Api, of: Mapping[str, int], branch: int, query: Mapping[str, str]
) -> dict[str, int]:
    contacts = {}
    for driver in await api.rows("/drivers"):
        contact: Row = {
            **of,
            "branchId": branch,
            "driverId": driver["id"],
            "name": driver["name"],
            "email": driver["name"].lower().replace(" ", ".") + "@example.com",
        }
        contacts[driver["name"]] = (await api.ensure("/contacts", contact, **query))["id"]
    return contacts


async def _open(api: Api, case: Case, fields: Row, statuses: Mapping[str, int], agent: int) -> None:
    """Create a ticket, and do what was done about it."""
    ticket = await api.post("/tickets", {**fields, "subject": case.subject, "description": case.description})
    path = f"/tickets/{ticket['id']}"
    if case.taken:
        await api.post(f"{path}/assign", {"assigneeId": agent})
        await api.post(f"{path}/transition", {"statusId": statuses["In progress"]})
    for text, of_contact in case.comments:
        await api.post(f"{path}/comments", {"text": text, "onBehalfOfContact": of_contact})
    if case.status:
        await api.post(f"{path}/transition", {"statusId": statuses[case.status]})
