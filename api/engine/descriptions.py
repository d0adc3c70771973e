"""Descriptions of fields and parameters for the OpenAPI document.

A field is described by the docstring below it; here is only what means the same in every record, and what is
declared nowhere else. Units throughout: knots, metres, milliseconds, litres, degrees, UTC.
"""

import inspect
import re
from collections.abc import Mapping

from motorpool.api.field_docstrings import field_docstrings
from motorpool.storage.accounts.links import LINK_TYPES

COMMON_FIELDS: Mapping[str, str] = {
    "id": (
        "The record's own id. In the body of an update absent, 0, or the id of the path; "
        "ignored for a new one."
    ),
    "name": "What people call it.",
    "description": "Free text.",
    "attributes": "Further values by name, as clients and the server agree on them.",
    "type": "The kind.",
    "disabled": "Not to be chosen any more; what refers to it keeps it.",
    "assigneeId": "The user who works on it; 0 is nobody.",
    "branchId": "The branch; 0 is none.",
    "categoryId": "The category; 0 is none.",
    "channel": "The camera, 1 to 31.",
    "companyId": "The company, which cannot be changed.",
    "contactId": "The contact; 0 is none.",
    "coordinateFormat": "How places are written: dd, ddm or dms.",
    "createdAt": "When it was created.",
    "deviceId": "The device; 0 is none.",
    "deviceName": "The device's name.",
    "duration": "Milliseconds.",
    "endTime": "When it ended.",
    "engineHours": "Milliseconds for which the engine ran.",
    "expires": "When it ends.",
    "geofenceId": "The geofence; 0 is none.",
    "groupId": "The group; 0 is none.",
    "issued": "When it was issued.",
    "latitude": "Degrees, north positive.",
    "longitude": "Degrees, east positive.",
    "map": "Name of the map to begin with.",
    "poiLayer": "Address of a KML file with points of interest.",
    "positionId": "The position; 0 is none.",
    "priorityId": "The priority; 0 is none.",
    "startTime": "When it began.",
    "statusId": "The status.",
    "teamId": "The team; 0 is none.",
    "textChannel": "By text message in place of the device's connection.",
    "ticketId": "The ticket.",
    "userId": "The user; 0 is none.",
    "zoom": "Zoom of the map to begin with; 0 is not set.",
}
"""Descriptions of fields without a docstring, in any record."""

PARAMETERS: Mapping[str, str] = {
    **{key: "0 is any." for keys in LINK_TYPES for key in keys},
    "deliveryId": "The message to a webhook.",
    "id": "The record.",
    "section": "The section of the settings.",
    "deviceId": "The device.",
    "groupId": "The group, and all groups below it.",
    "userId": "The user.",
    "from": "From this instant on.",
    "to": "Until this instant, which counts as well.",
    "token": "A session or share token.",
    "endTokens": "Whether all tokens of before end at once.",
    "email": "E-mail address, or the user's `login`.",
    "password": "The password.",
    "code": "One-time code, or the provider's code.",
    "state": "What the provider was sent with.",
    "error": "Why the provider could not log anybody in.",
    "expiration": "Until when the token is good.",
    "textChannel": "By text message.",
    "announcement": "Only those that take announcements.",
    "notificator": "One of `GET /notifications/notificators`.",
    "latitude": "Degrees, north positive.",
    "longitude": "Degrees, east positive.",
    "channel": "The camera, 1 to 31.",
    "index": "The segment's number in the playlist.",
    "part": "The part's number in its segment.",
    "_HLS_msn": "Wait until the playlist holds the segment of this number (Low-Latency HLS).",
    "_HLS_part": "Wait for this part of that segment.",
    "wait": "Seconds to wait for the first segment of a camera that starts, at most `video.start_seconds`.",
    "uniqueId": "The device's unique id.",
    "file": "The file's name.",
    "path": "Where the file is served, below `/`.",
    "type": "`xlsx` or `mail`.",
}
"""Descriptions of path parameters, and of query and form parameters without a docstring."""

PATH_VALUES: Mapping[str, tuple[str, ...]] = {"type": ("xlsx", "mail")}
"""What a parameter of paths may be, if only that is found."""

ERROR_STATUSES: Mapping[int, str] = {
    400: "The input is wrong, or the caller may not do this. The text says why.",
    401: "No credential, or one that is not good; or this needs another role.",
    403: "Not open to the caller, or not without one-time codes; or sent by a page of another site.",
    404: "There is no such thing, or the caller may not see it.",
    409: "Somebody else uses it, and one may at a time.",
    413: "The body is too large.",
    429: "Too many failed logins or requests of this kind; `Retry-After` says when to come back.",
    500: "It does not work, or is not set up here.",
    503: "The server cannot answer now; asking again after `Retry-After` may help.",
}
"""Statuses of errors; the body is one line of plain text for people."""

_CITATION = re.compile(r"\s*\((?:docs/|specification)[^)]*\)")


def describe_field(record: type, field: str, name: str) -> str:
    """Return the sentence for a field, called `name` in JSON; KeyError if there is none."""
    return field_docstrings(record).get(field) or COMMON_FIELDS[name]


def describe_parameter(shape: type, field: str, name: str) -> str:
    """Return the sentence for a parameter of a query or form; KeyError if there is none."""
    return field_docstrings(shape).get(field) or PARAMETERS[name]


def describe_record(shape: type) -> str:
    """Return the first paragraph of its docstring, on one line and without citations of our pages."""
    first = (inspect.getdoc(shape) or "").partition("\n\n")[0]
    return _CITATION.sub("", " ".join(first.split()))
