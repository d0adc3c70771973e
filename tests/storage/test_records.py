import json
from datetime import UTC, datetime

import msgspec
import pytest

from motorpool.storage import records
from motorpool.storage.records import ComputedAttribute, Device, Position, Session, User

WHOLE = {"Review", "ScheduledCommandRun", "ScheduledStep", "Session"}
"""Those that are nothing while they are empty."""
SHOWN = [
    struct
    for name, struct in vars(records).items()
    if isinstance(struct, type) and struct.__module__ == records.__name__ and name not in WHOLE
]


def test_json_has_the_names_of_the_api():
    names = set(json.loads(msgspec.json.encode(Device())))
    assert names == {
        "id", "name", "uniqueId", "status", "lastUpdate", "positionId", "groupId", "calendarId", "phone",
        "model", "contact", "category", "disabled", "expirationTime", "attributes",
    }  # fmt: skip
    assert set(json.loads(msgspec.json.encode(Position()))) == {
        "id", "deviceId", "protocol", "serverTime", "deviceTime", "fixTime", "outdated", "valid", "latitude",
        "longitude", "altitude", "speed", "course", "address", "accuracy", "network", "geofenceIds",
        "attributes",
    }  # fmt: skip


@pytest.mark.parametrize("record", SHOWN)
def test_what_is_unset_is_zero_or_null_or_empty_as_the_api_wants_it(record):
    shown = json.loads(msgspec.json.encode(record()))
    assert shown.get("attributes", {}) == {}
    assert ("attributes" in shown) is (record is not ComputedAttribute)
    references = [value for name, value in shown.items() if name.endswith("Id") and name != "uniqueId"]
    assert all(value == 0 for value in references)


@pytest.mark.parametrize("record", SHOWN)
def test_records_are_values(record):
    assert record() == record()
    with pytest.raises(AttributeError):
        record().id = 5
    if record is not ComputedAttribute:
        # Nobody's attributes are anybody else's.
        assert record().attributes is not record().attributes


def test_a_user_has_no_place_for_a_password():
    assert not [field.name for field in msgspec.structs.fields(User) if "password" in field.name]


def test_a_session_is_whole_or_not_at_all():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    session = Session("a", 1, now, now, now)
    assert (session.origin, session.token_expires) == (None, None)
    with pytest.raises(TypeError):
        Session("a", 1)
