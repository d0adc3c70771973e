import msgspec
import pytest

from motorpool.api.engine.spans import Span
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
