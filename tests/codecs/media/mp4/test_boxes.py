"""Bytes written by hand from ISO/IEC 14496-12."""

from motorpool.codecs.media.mp4.boxes import (
    NO_SYNC,
    SYNC,
    SegmentReference,
    TrackRun,
    box,
    full_box,
    movie_fragment,
    segment_index,
)


def test_a_box_leads_with_its_size_and_kind() -> None:
    assert box(b"free", b"ab", b"c") == b"\0\0\0\x0bfreeabc"
    assert full_box(b"mehd", 1, 3, b"x") == b"\0\0\0\x0dmehd\x01\0\0\x03x"


def test_a_fragment_says_where_each_sample_lies() -> None:
    pictures = TrackRun(1, 7_200, [3_600, 3_600], [3, 2], [SYNC, NO_SYNC])
    sound = TrackRun(2, 6_000, [11_520], [4])
    data = movie_fragment(5, [pictures, sound], [b"one", b"tw", b"wave"])
    head_bytes = int.from_bytes(data[:4])
    assert data[4:8] == b"moof"
    assert data[head_bytes:] == b"\0\0\0\x11mdatonetwwave"
    assert data[8:24] == b"\0\0\0\x10mfhd\0\0\0\0\0\0\0\x05"
    runs = data.split(b"trun")[1:]
    # Version 0; offset, duration, size and flags; two samples, the first right behind the head of the bytes.
    assert runs[0][:12] == b"\0\0\x07\x01\0\0\0\x02" + (head_bytes + 8).to_bytes(4)
    assert runs[0][12:24] == b"\0\0\x0e\x10\0\0\0\x03\x02\0\0\0"
    assert runs[0][24:36] == b"\0\0\x0e\x10\0\0\0\x02\x01\x01\0\0"
    assert runs[1][:20] == b"\0\0\x03\x01\0\0\0\x01" + (head_bytes + 13).to_bytes(4) + b"\0\0\x2d\0\0\0\0\x04"
    assert data.split(b"tfdt")[2][:12] == b"\x01\0\0\0" + (6_000).to_bytes(8)


def test_an_index_has_an_entry_for_each_stretch() -> None:
    data = segment_index(
        1, 90_000, 20, 300, [SegmentReference(1_000, 180_000, True), SegmentReference(7, 9, False)]
    )
    assert data[4:12] == b"sidx\x01\0\0\0"
    assert data[12:20] == b"\0\0\0\x01\0\x01\x5f\x90"
    assert data[20:36] == (20).to_bytes(8) + (300).to_bytes(8)
    assert data[36:40] == b"\0\0\0\x02"
    assert data[40:52] == b"\0\0\x03\xe8\0\x02\xbf\x20\x90\0\0\0"
    assert data[52:] == b"\0\0\0\x07\0\0\0\x09\0\0\0\0"
