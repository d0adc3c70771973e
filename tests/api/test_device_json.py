from datetime import UTC, datetime, timedelta

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from motorpool.actors.messages.topics import DeviceStatus
from motorpool.actors.words.record_json import encode
from motorpool.api.device_json import DeviceJsonCache, encode_rows
from motorpool.storage.database.database import open_database
from motorpool.storage.devices import devices
from motorpool.storage.encryption import new_key
from motorpool.storage.records import Device
from motorpool.storage.secret_attributes import ENCRYPTED, HIDDEN
from motorpool.storage.settings import DatabaseSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)

TEXTS = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=20)
TIMES = st.integers(0, 10**16).map(lambda micros: NOW + timedelta(microseconds=micros))
TIMES |= st.integers(0, 10**10).map(lambda seconds: NOW + timedelta(seconds=seconds))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 80), 1 << 80) | st.floats(-1e15, 1e15) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
SECRETS = {path[0]: st.just("my secret") for path in ENCRYPTED if len(path) == 1} | {
    "ticketWebhook": st.dictionaries(
        st.sampled_from(["secret", "previousSecret", "url"]), st.just("my secret")
    )
}
DEVICES = st.builds(
    Device,
    name=TEXTS,
    phone=st.none() | TEXTS,
    model=st.none() | TEXTS,
    contact=st.none() | TEXTS,
    category=st.none() | TEXTS,
    disabled=st.booleans(),
    expiration_time=st.none() | TIMES,
    attributes=st.dictionaries(TEXTS, JSON, max_size=4)
    | st.fixed_dictionaries({"a": JSON}, optional=SECRETS),
)
STATUSES = st.builds(
    DeviceStatus,
    device_id=st.just(0),
    status=st.sampled_from(["online", "offline", "unknown"]),
    last_update=st.none() | TIMES,
    position_id=st.integers(0, 1 << 62),
)


def device(number, **fields):
    return Device(id=number, name=f"Vehicle {number}", unique_id=str(number), **fields)


def status(number, position_id=7):
    return DeviceStatus(number, "online", NOW, position_id)


def test_a_device_is_encoded_with_its_status():
    row = device(1, attributes={"webhook.secret": "hidden", "speedLimit": 43.2})
    (text,) = DeviceJsonCache().encode_all([(row, status(1))])
    assert bytes(text) == encode(status(1).fill_in(row))
    assert b"hidden" not in bytes(text)


def test_a_bare_device_has_no_attributes():
    row = device(1, attributes={"speedLimit": 43.2})
    (text,) = DeviceJsonCache(bare=True).encode_all([(row, status(1))])
    shown = msgspec.json.decode(text)
    assert shown == msgspec.json.decode(encode(status(1).fill_in(row))) | {"attributes": {}}


def test_what_has_not_changed_is_not_encoded_again():
    cache, row = DeviceJsonCache(), device(1)
    first, second = (cache.encode_all([(row, status(1))])[0] for _ in range(2))
    assert first is second


def test_another_row_and_another_status_are_encoded():
    cache, row = DeviceJsonCache(), device(1)
    cache.encode_all([(row, status(1))])
    renamed = msgspec.structs.replace(row, name="Renamed")
    for pair in ((renamed, status(1)), (renamed, status(1, 8)), (row, status(1, 8)), (row, status(1))):
        (text,) = cache.encode_all([pair])
        assert bytes(text) == encode(pair[1].fill_in(pair[0]))


def test_long_attributes_displace_others():
    cache = DeviceJsonCache(max_bytes=10_000)
    rows = [device(number, attributes={"text": "x" * 900}) for number in range(1, 31)]
    for row in rows:
        cache.encode_all([(row, status(row.id))])
    kept = [each for each in rows if each.id in cache._encoded]
    assert kept == rows[-len(kept) :]
    assert 3 <= len(kept) <= 10
    assert cache._bytes == sum(each.size for each in cache._encoded.values())
    assert [bytes(text) for text in cache.encode_all((row, status(row.id)) for row in rows)] == [
        encode(status(row.id).fill_in(row)) for row in rows
    ]
    assert cache._bytes <= 10_000


async def test_json_of_rows_is_that_of_records(database_url, tmp_path):
    drawn = []

    # Drawn by hypothesis and stored below: its own loop is not Trio's.
    @settings(max_examples=300, database=None, suppress_health_check=list(HealthCheck))
    @given(DEVICES, STATUSES)
    def draw(row, state):
        drawn.append((row, state))

    draw()
    access = DatabaseSettings(url=database_url, data=tmp_path, keys=(new_key(),))
    async with open_database(access, clock_now=lambda: NOW) as database:
        live = {}
        for number, (row, state) in enumerate(drawn):
            stored = await devices.TABLE.insert(database, msgspec.structs.replace(row, unique_id=str(number)))
            live[stored.id] = msgspec.structs.replace(state, device_id=stored.id)
        for bare in (False, True):
            ids = [*reversed(live), 999_999]
            records = await devices.TABLE.fetch_many(database, ids, exclude_attributes=bare)
            expected = [live[record.id].fill_in(record) for record in records]
            rows = await devices.rows_with_text(database, ids, exclude_attributes=bare)
            text = b"[%b]" % bytes(encode_rows(rows, live, database.keyring))
            assert msgspec.json.decode(text) == msgspec.json.decode(encode(expected))
            assert [tuple(each) for each in msgspec.json.decode(text)] == [
                Device.__struct_encode_fields__
            ] * len(drawn)
            assert b"enc:1:" not in text
        shown = {name for row, _ in drawn for name in row.attributes}
        assert shown > {path[0] for path in HIDDEN}
