"""Hooks of the schemathesis run of test_schemathesis.py; loaded by its process, not by ours.

Generated ids mostly hit nothing, so many are bent to those that were made beforehand. The crawler's own
account is left alone: a crawl that deletes or disables itself sees nothing but 401 from there on.
"""

import gc
import itertools
import json
import os
import zlib

import schemathesis
from hypothesis import strategies as st
from schemathesis.generation.meta import CoverageScenario

# Of what is kept to the end, all that was sent and answered, there is more with each request.
gc.set_threshold(50_000, 50, 1000)

OWN_ID = os.environ["CRAWLER_ID"]
MADE = json.loads(os.environ["CRAWLER_IDS"])
"""Path below /api -> ids made there beforehand."""

IMAGES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff\xe0",
    "image/gif": b"GIF89a",
    "image/webp": b"RIFF\x04\x00\x00\x00WEBP",
}
for _kind, _begin in IMAGES.items():
    schemathesis.openapi.media_type(_kind, st.sampled_from([_begin + bytes(16), b"\x89PNG", b""]))
schemathesis.openapi.media_type("application/octet-stream", st.binary(max_size=200))

KEYS = {
    "deviceId": "devices",
    "groupId": "groups",
    "userId": "users",
    "managedUserId": "users",
    "linkedDeviceId": "devices",
    "calendarId": "calendars",
    "geofenceId": "geofences",
    "driverId": "drivers",
    "commandId": "commands",
    "orderId": "orders",
    "maintenanceId": "maintenance",
    "notificationId": "notifications",
    "attributeId": "attributes/computed",
    "scheduledCommandId": "scheduledcommands",
    "reportId": "reports",
    "companyId": "companies",
    "branchId": "branches",
    "teamId": "teams",
    "parentId": "ticketcategories",
    "priorityId": "ticketpriorities",
    "statusId": "ticketstatuses",
}
BELOW_COMPANIES = ("branches", "teams", "contacts", "ticketcategories", "ticketpriorities", "ticketstatuses")
"""Families whose rows, all of the first company, stay in it."""
DATES = ("from", "to", "expiration", "expirationTime", "startTime", "endTime", "until")
PAIRS = (
    ("userId", "deviceId"),
    ("deviceId", "geofenceId"),
    ("groupId", "driverId"),
    ("userId", "managedUserId"),
    ("deviceId", "scheduledCommandId"),
)
WORDS = {
    ("/commands", "type"): ("custom", "engineStop", "positionSingle", "videoStart"),
    ("/reports", "type"): ("trips", "summary"),
    ("/notifications", "type"): ("alarm", "deviceOnline", "geofenceEnter"),
    ("/attributes/computed", "type"): ("String", "number", "BOOLEAN"),
    ("/attributes/computed", "expression"): ("speed * 2", "valid", "'x'", "null"),
    ("/share", "expiration"): ("2100-01-01T00:00:00Z",),
    ("/ticketstatuses", "kind"): ("new", "open", "pending", "resolved", "closed", "cancelled"),
    ("/contacts", "timezone"): ("", "Europe/Berlin"),
    ("/geofences", "area"): ("CIRCLE (52 13, 10)", "POLYGON ((1 1, 1 2, 2 2))"),
}
"""What is known there; anything else is refused before the rest is looked at."""
UNIQUE = ("email", "uniqueId")
_numbers = itertools.count()
_tried = {}
ONE_OF = {
    CoverageScenario.INCORRECT_TYPE: 5,
    CoverageScenario.VALUE_BELOW_MINIMUM: 3,
    CoverageScenario.VALUE_ABOVE_MAXIMUM: 3,
    CoverageScenario.NEAR_BOUNDARY_NUMBER: 3,
    CoverageScenario.UNSPECIFIED_HTTP_METHOD: 3,
    CoverageScenario.OBJECT_REQUIRED_AND_OPTIONAL: 3,
    CoverageScenario.VALID_OBJECT: 3,
    CoverageScenario.OBJECT_UNEXPECTED_PROPERTIES: 2,
}
"""Kinds of cases of which there are hundreds; of so many that are alike one is tried."""


@schemathesis.hook
def filter_case(context, case):
    """Leave out what would end the crawl, and what is taken although the document does not ask for it."""
    path, method = case.operation.path, case.method.upper()
    if is_repetition(case):
        return False
    own = path == "/users/{id}" and str((case.path_parameters or {}).get("id")) == OWN_ID
    if path == "/server/file/{path}" and not isinstance(case.body, bytes):
        # Files may be empty.
        return False
    query = case.query or {}
    body = case.body if isinstance(case.body, dict) else {}
    # Parameters without a value are absent; where ids are given by us, those of a body are ignored.
    empty = any(value in ("", [""]) for value in query.values())
    foreign = is_number(body.get("id")) and not is_id(body["id"])
    # Dates are taken as milliseconds too, and an empty text is no date (docs/http-api.md#json-conventions).
    lenient = any(body.get(name) == "" or is_number(body.get(name)) for name in DATES)
    return not ((own and method != "GET") or empty or foreign or lenient)


def is_repetition(case):
    """Whether enough like it was tried, unless it is a longer look (CRAWL_EXAMPLES).

    There are four to seven types that are wrong at a place, bounds for every number, as many methods that no
    path knows, and a valid body for each property that may be left out. Of those that are alike every second
    to fifth is tried, another one at the next place.
    """
    what = case.meta.phase.data if case.meta is not None else None
    one_of = ONE_OF.get(getattr(what, "scenario", None))
    if "CRAWL_EXAMPLES" in os.environ or one_of is None:
        return False
    method = "" if what.scenario == CoverageScenario.UNSPECIFIED_HTTP_METHOD else case.method
    place = f"{method} {case.operation.path} {what.parameter_location} {what.parameter} {what.location}"
    # Of what is valid always the first, so that each operation succeeds.
    first = 0 if case.meta.generation.mode.is_positive else zlib.crc32(place.encode())
    number = _tried.setdefault((what.scenario, place), first)
    _tried[what.scenario, place] += 1
    return number % one_of > 0


@schemathesis.hook
def map_case(context, case):
    """Make most ids those of something there, and what is valid anyway something that is taken."""
    path = case.operation.path
    family = path.removeprefix("/").partition("/{")[0]
    gone = case.method.upper() == "DELETE"
    good = case.meta is not None and case.meta.generation.mode.is_positive
    parameters = dict(case.path_parameters or {})
    for name, value in parameters.items():
        number = 4 * value if good and is_id(value) and value < 2**60 else value
        parameters[name] = bend(number, family if name == "id" else KEYS.get(name), gone=gone)
    if good and len(str(parameters)) % 2:
        if path.startswith("/media"):
            parameters = {"uniqueId": "crawled-0", "file": "device.png"}
        elif "notificator" in parameters:
            parameters["notificator"] = "web"
    if parameters:
        case.path_parameters = parameters
    for name, value in (case.query or {}).items():
        case.query[name] = bend(value, KEYS.get(name), gone=gone)
    if good and gone and path == "/positions":
        # Of one whose positions nobody else asks for by their ids.
        case.query["deviceId"] = MADE["devices"][1]
    if good and path == "/attributes/computed/test" and case.query:
        # One that has a position.
        case.query["deviceId"] = MADE["devices"][0]
    if good and path == "/commands/send" and len(str(case.body)) % 2:
        case.query = {}
    bodies = case.body if isinstance(case.body, list) else [case.body]
    bent = [bend_body(body, path, parameters.get("id"), good=good) for body in bodies]
    if good and path.startswith("/permissions"):
        if case.method.upper() == "GET" and len(str(case.query)) % 2:
            case.query = dict(
                zip(PAIRS[len(str(case.query)) % len(PAIRS)], (MADE["devices"][0], 0), strict=True)
            )
        # Lists are of one kind of link.
        bent = [body for body in bent if not isinstance(body, dict) or list(body) == list(bent[0])]
    case.body = bent if isinstance(case.body, list) else bent[0]
    return case


def bend_body(body, path, number, *, good):
    """References and the id; and where all is valid, words that are known and texts that are new."""
    if not isinstance(body, dict):
        return body
    bent = {name: bend_value(name, value) for name, value in body.items()}
    if path == "/commands/send":
        bent |= {"id": bend(body["id"], "commands")} if "id" in body else {}
    elif is_id(body.get("id")) and is_id(number) and (good or number % 2):
        bent["id"] = number
    if not good:
        return bent
    bent.pop("version", None)  # it is at another one
    if path.startswith("/permissions"):
        pair = PAIRS[sum(map(len, body)) % len(PAIRS)]
        return {key: bend(4 * each, KEYS[key]) for each, key in enumerate(pair, len(str(body)))}
    for (begin, name), words in WORDS.items():
        text = bent.get(name)
        if path.startswith(begin) and isinstance(text, str) and len(text) % 7:
            bent[name] = words[len(text) % len(words)]
    if path.startswith(tuple(f"/{family}" for family in BELOW_COMPANIES)) and "companyId" in bent:
        bent["companyId"] = MADE["companies"][0]
    for name in UNIQUE:
        if isinstance(bent.get(name), str) and path.startswith(("/users", "/devices", "/drivers")):
            text = "crawled.{}@example.org" if name == "email" else f"{{}} {bent[name]}"
            bent[name] = text.replace("{}", str(next(_numbers)), 1)[:128]
    return bent


def bend_value(name, value):
    """Of a body: a reference, or a list of records that hold some."""
    if isinstance(value, list):
        return [
            {key: bend(each, KEYS.get(key)) for key, each in record.items()}
            if isinstance(record, dict)
            else record
            for record in value
        ]
    return bend(value, KEYS.get(name))


def bend(number, family, *, gone=False):
    """Three of four become the id of something that was made; which, the number says.

    What may be gone afterwards comes from the second half, so that the others find something to the end.
    """
    made = MADE.get(family)
    if not made:
        return number
    kept, rest = made[: len(made) // 2], made[len(made) // 2 :]
    if gone and str(number) in map(str, kept):
        return rest[0]
    if not is_id(number) or number % 4 == 3:
        return number
    pool = rest if gone else made
    return pool[number // 4 % len(pool)]


def is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_id(value):
    """What may be one; what is wrong on purpose stays as it is."""
    return is_number(value) and isinstance(value, int) and 0 <= value < 2**63
