from datetime import UTC, datetime

import msgspec
import pytest

from motorpool.api.engine.spans import Instant, Span, require_spans
from motorpool.api.http.errors import BadRequest
from motorpool.api.json import read_fields


def test_both_ends_are_instants_under_the_names_of_queries():
    sent = {"from": "2026-05-01T00:00:00Z", "to": "2026-05-01T02:00:00+02:00"}
    span = read_fields(sent, Span, strict=False)
    assert span.start == span.end
    for wrong in ({"from": "2026-05-01T00:00:00Z"}, {**sent, "to": "2026-05-01T00:00:00"}):
        with pytest.raises(BadRequest):
            read_fields(wrong, Span, strict=False)


def test_what_extends_it_keeps_its_names():
    class Wider(Span, rename="camel", kw_only=True):
        device_id: int

    names = [field.encode_name for field in msgspec.structs.fields(Wider)]
    assert names == ["from", "to", "deviceId"]


def test_spans_under_any_name_end_after_they_begin():
    class Wider(Span, rename="camel", kw_only=True):
        made_from: Instant | None = None
        made_to: Instant | None = None
        moved_from: Instant | None = None

    early, late = (datetime(2026, 5, day, tzinfo=UTC) for day in (1, 2))
    for right in (
        Wider(start=early, end=early),
        Wider(start=early, end=late, made_to=early, moved_from=late),
    ):
        require_spans(right)
    for wrong, text in (
        (Wider(start=late, end=early), "to: lies before from"),
        (Wider(start=early, end=late, made_from=late, made_to=early), "madeTo: lies before madeFrom"),
    ):
        with pytest.raises(BadRequest, match=f"^{text}$"):
            require_spans(wrong)
