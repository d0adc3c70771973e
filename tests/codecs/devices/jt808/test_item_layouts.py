from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808.item_layouts import ItemDecoder
from motorpool.codecs.devices.jt808.vendors.models import STANDARD

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


def new_decoder():
    return ItemDecoder(STANDARD, keeps_unknown=True)


def read(decoder, content, start=0, end=None):
    attributes = {}
    alarms, record = decoder.decode(content, start, len(content) if end is None else end, attributes)
    return attributes, alarms, record and record.network


@settings(max_examples=150)
@given(ITEMS, st.binary(max_size=3), st.binary(max_size=3))
def test_items_are_read_alike_whatever_the_decoder_remembers(items, before, after):
    content = before + written(items) + after
    place = len(before), len(content) - len(after)
    decoder = new_decoder()
    other = b"\x31\x01\x05" * 2
    read(decoder, before + other, len(before))

    first = read(decoder, content, *place)
    assert read(decoder, content, *place) == first
    assert read(new_decoder(), content, *place) == first


def test_an_item_past_the_end_stops_the_reading_and_the_others_stay():
    assert read(new_decoder(), bytes.fromhex("31010b01040000"))[0] == {"sat": 11}


def test_a_lone_byte_behind_the_items_is_ignored():
    assert read(new_decoder(), bytes.fromhex("31010b01"))[0] == {"sat": 11}


def test_unknown_items_are_read_only_where_they_are_kept():
    content = bytes.fromhex("d10201f031010b")
    assert read(new_decoder(), content)[0] == {"sat": 11, "item0xD1": "01f0"}
    attributes = {}
    not_kept = ItemDecoder(STANDARD, keeps_unknown=False)
    assert not_kept.decode(content, 0, len(content), attributes) == ([], None)
    assert attributes == {"sat": 11}


def test_other_items_of_the_same_size_are_read_and_eventually_come_first():
    decoder = new_decoder()
    first, second = bytes.fromhex("31010b300118"), bytes.fromhex("300118310109")
    read(decoder, first)
    for _ in range(100):
        assert read(decoder, second)[0] == {"rssi": 24, "sat": 9}
    assert decoder._by_size[6].items == (0x3001, 0x3101)


def test_layouts_are_few_and_short():
    decoder = new_decoder()
    assert read(decoder, written([(0x31, b"\1")] * 25))[0] == {"sat": 1}
    assert decoder._layouts == decoder._by_size == {}
    for number in range(1200):
        items = [(number % 256, bytes(1)), (number // 256, bytes(number % 7))]
        read(decoder, written(items))
    assert len(decoder._layouts) <= 512
    assert len(decoder._by_size) <= 512
