from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808 import item_layouts
from motorpool.codecs.devices.jt808.item_layouts import decode_items

ITEMS = st.lists(
    st.one_of(
        st.tuples(st.sampled_from([0x01, 0x14, 0x25, 0x2B]), st.binary(min_size=4, max_size=4)),
        st.tuples(st.sampled_from([0x02, 0x03, 0x06]), st.binary(min_size=2, max_size=2)),
        st.tuples(st.sampled_from([0x30, 0x31, 0x06]), st.binary(min_size=1, max_size=1)),
        st.tuples(st.integers(0, 255), st.binary(max_size=6)),
    ),
    max_size=20,
)


def written(items):
    return b"".join(bytes((number, len(value))) + value for number, value in items)


@settings(max_examples=150)
@given(ITEMS, st.binary(max_size=3), st.binary(max_size=3))
def test_a_learned_layout_reads_what_the_walk_reads(items, before, after):
    content = before + written(items) + after
    end = len(content) - len(after)
    item_layouts._layouts.clear()
    walked, learned = {}, {}

    alarms = decode_items(content, len(before), end, walked)
    assert decode_items(content, len(before), end, learned) == alarms
    assert learned == walked


def test_an_item_past_the_end_stops_the_reading_and_the_others_stay():
    attributes = {}
    content = bytes.fromhex("310b0104") + b"\0\0"
    content = bytes.fromhex("31010b01040000")
    assert decode_items(content, 0, len(content), attributes) == []
    assert attributes == {"sat": 11}


def test_a_lone_byte_behind_the_items_is_ignored():
    attributes = {}
    decode_items(bytes.fromhex("31010b01"), 0, 4, attributes)
    assert attributes == {"sat": 11}


def test_other_items_of_the_same_size_are_read_and_eventually_replace_the_layout():
    item_layouts._layouts.clear()
    first, second = bytes.fromhex("31010b300118"), bytes.fromhex("300118310109")
    decode_items(first, 0, 6, {})
    for _ in range(100):
        attributes = {}
        decode_items(second, 0, 6, attributes)
        assert attributes == {"rssi": 24, "sat": 9}
    assert item_layouts._layouts[6].items == (0x3001, 0x3101)


def test_layouts_are_few_and_short():
    item_layouts._layouts.clear()
    many = written([(0x31, b"\1")] * 17)
    attributes = {}
    decode_items(many, 0, len(many), attributes)
    assert attributes == {"sat": 1}
    assert item_layouts._layouts == {}
