"""Devices as CSV: what was exported is read again as the same devices."""

from datetime import UTC, datetime

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.words.cells import csv_lines
from motorpool.api.http.errors import BadRequest
from motorpool.api.resources.device_rows import (
    MAX_ROWS,
    GroupNames,
    UnreadableRow,
    attribute_keys,
    cells_of,
    header,
    read_device,
    read_table,
)
from motorpool.storage.records import Device, Group

GROUPS = GroupNames(
    [Group(1, "Vans"), Group(2, "Vans"), Group(3, "#7"), Group(4, "Lorries, heavy"), Group(5, "=SUM(A1)")]
)
LINE = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), max_size=12)
VALUES = st.recursive(
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LINE, inner, max_size=3),
    max_leaves=4,
)
DEVICES = st.builds(
    Device,
    name=LINE,
    unique_id=LINE,
    group_id=st.integers(0, 5),
    phone=st.none() | LINE.filter(bool),
    model=st.none() | LINE.filter(bool),
    category=st.none() | LINE.filter(bool),
    disabled=st.booleans(),
    expiration_time=st.none()
    | st.integers(946_684_800, 4_102_444_800).map(lambda second: datetime.fromtimestamp(second, UTC)),
    attributes=st.dictionaries(
        LINE.filter(lambda key: key and key not in {"webhook", "ticketWebhook"}), VALUES, max_size=3
    ),
)


def emptied(device: Device) -> Device:
    """Texts that are empty are absent ones, as where a device is stored."""
    texts = {name: getattr(device, name) or None for name in ("phone", "model", "contact", "category")}
    return msgspec.structs.replace(device, **texts)


@given(DEVICES)
def test_an_exported_device_is_read_as_the_same(device):
    keys = sorted(attribute_keys([device]))
    (row,) = read_table(csv_lines([header(keys), cells_of(device, keys, GROUPS)])) or [None]
    assert row.number == 2
    assert emptied(read_device(row, None, GROUPS)) == device


def read(text: str):
    return read_table(text.encode())


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_any_usual_separator_a_mark_of_unicode_and_empty_lines_are_taken(separator):
    text = "\ufeff" + separator.join(["name", "uniqueId"]) + "\r\n\r\n" + separator.join(["Van, 1", "7"])
    if separator == ",":
        text = text.replace("Van, 1", '"Van, 1"')
    (row,) = read(text)
    assert (row.number, row.cells) == (3, {"name": "Van, 1", "uniqueId": "7"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no column uniqueId"),
        ("name\nVan", "no column uniqueId"),
        ("uniqueId,colour\n1,red", "'colour' is unknown"),
        ("uniqueId,attributes.\n1,red", "'attributes.' is unknown"),
        ("uniqueId,name,name\n1,a,b", "is there twice"),
        ("uniqueId,group,groupId\n1,a,1", "say the same"),
        ("uniqueId,name\n1,a,b", "row 2: has 3 cells, the header 2"),
        ('uniqueId,name\n1,"a', "row 2: unexpected end of data"),
        ("uniqueId\n" + "1\n" * (MAX_ROWS + 1), f"more than {MAX_ROWS} rows"),
        ("uniqueId\n\0", "U+0000"),
    ],
)
def test_a_file_that_is_no_table_of_devices_is_refused_as_a_whole(text, said):
    with pytest.raises(BadRequest) as refused:
        read(text)
    assert said in refused.value.text


def test_text_in_another_encoding_is_refused():
    with pytest.raises(BadRequest, match="UTF-8"):
        read_table("uniqueId,name\n1,Müller".encode("latin-1"))


def test_every_fault_of_a_row_is_told():
    (row,) = read("uniqueId,group,disabled,expirationTime,calendarId,attributes.a\n1,Bikes,maybe,soon,x,null")
    with pytest.raises(UnreadableRow) as refused:
        read_device(row, None, GROUPS)
    assert [fault.column for fault in refused.value.faults] == [
        "group",
        "disabled",
        "expirationTime",
        "calendarId",
        "attributes.a",
    ]


def test_a_name_of_several_groups_asks_for_one_of_their_ids():
    with pytest.raises(ValueError, match="2 groups are named 'Vans': write one of #1, #2"):
        GROUPS.find("Vans")
    assert GROUPS.find("#2") == 2
    assert GROUPS.write(1) == "#1"
    assert GROUPS.write(3) == "#3"
    assert GROUPS.write(99) == "#99"


def test_what_has_no_column_stays_and_an_empty_cell_empties():
    old = Device(5, "Van", "1", phone="7", model="X", group_id=4, attributes={"a": "1", "b": 2, "c": True})
    (row,) = read("uniqueId,phone,group,attributes.a,attributes.b\n1,,,1,")
    changed = read_device(row, old, GROUPS)
    assert emptied(changed) == Device(5, "Van", "1", model="X", attributes={"a": "1", "c": True})
