"""Versions of records: the header ETag of answers, and If-Match of requests (docs/http-api.md#versions)."""

from collections.abc import Mapping

from quart import Response

from motorpool.api.engine.call import Call
from motorpool.api.http.errors import BadRequest

FIRST_VERSION = 1
"""The version of a new row, which is the default of the column."""
VERSION_HEADER: Mapping[str, str] = {
    "ETag": "The version of the record, for If-Match of a later request. Not in the specification."
}
IF_MATCH: Mapping[str, str] = {
    "If-Match": (
        "The ETag of an earlier answer: if the record has been changed since, it is left as it is, and the "
        "answer is 400. Not in the specification."
    )
}
MAX_SHOWN = 60
"""Characters of a header that an error text repeats."""


def with_version(response: Response, version: int) -> Response:
    """Add the header ETag."""
    response.set_etag(str(version))
    return response


def require_version(call: Call, what: str, version: int, sent_version: int = 0) -> None:
    """Raise BadRequest if the request has If-Match and none of its entity tags is this version.

    The same goes for `sent_version`, which a body has named; 0 is none. Without both nothing is checked. `*`
    matches any version. A tag is compared by its text alone: proxies that compress an answer mark its tag as
    weak.
    """
    if sent_version and sent_version != version:
        raise BadRequest(f"{what} was changed: it is at version {version}, you sent {sent_version}")
    sent = call.request.headers.get("If-Match")
    if sent is None:
        return
    expected = call.request.if_match
    if expected.star_tag or expected.contains_weak(str(version)):
        return
    # Werkzeug reads the empty tag as None.
    tags = ", ".join(sorted(filter(None, expected.as_set(include_weak=True)))) or sent
    raise BadRequest(f"{what} was changed: it is at version {version}, you sent {tags[:MAX_SHOWN]}")
