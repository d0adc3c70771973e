"""Location messages that are put together from prepared parts."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from motorpool.bench.load.messages import LocationMessages, is_accepted
from motorpool.codecs.devices.jt808.codec import Jt808
from motorpool.codecs.reports import Login, PositionReport

FIRST = datetime(2026, 2, 27, 23, 59, 0, tzinfo=UTC)
MESSAGES = LocationMessages(FIRST)
phones = st.from_regex(r"1[0-9]{10}", fullmatch=True)


@settings(max_examples=150, deadline=None)
@given(phones, st.booleans(), st.integers(0, 3000))
def test_each_message_is_a_right_frame_of_its_own_terminal_and_second(
    phone: str, modern: bool, number: int
) -> None:
    frame = MESSAGES.frame(MESSAGES.head(phone, modern=modern), number)
    login, report = Jt808().receive(frame)
    assert isinstance(login, Login)
    assert phone in login.unique_ids
    assert isinstance(report, PositionReport)
    assert report.device_time == FIRST + timedelta(seconds=number) == MESSAGES.device_time(number)
    assert report.valid
    assert {"odometer", "fuel", "videoAlarm", "input", "rssi", "sat"} <= report.attributes.keys()


def test_a_terminal_drives_from_where_it_begins() -> None:
    head = MESSAGES.head("13500000001", modern=True)
    places = []
    for number in (0, 100):
        _, report = Jt808().receive(MESSAGES.frame(head, number, (47.0, 8.0)))
        assert isinstance(report, PositionReport)
        places.append((report.latitude, report.longitude))
    assert places == [(47.0, 8.0), (pytest.approx(47.007), pytest.approx(8.009))]


@settings(max_examples=100, deadline=None)
@given(phones, st.booleans(), st.integers(0, 3000))
def test_the_servers_answer_is_taken_for_acceptance_and_its_refusal_is_not(
    phone: str, modern: bool, number: int
) -> None:
    codec = Jt808()
    reports = codec.receive(MESSAGES.frame(MESSAGES.head(phone, modern=modern), number))
    receipt = reports[-1].receipt
    assert is_accepted(codec.acknowledge([receipt]))
    assert not is_accepted(codec.refuse(receipt))


@pytest.mark.parametrize("cut", [0, 1, 5, -1])
def test_half_an_answer_is_no_answer(cut: int) -> None:
    codec = Jt808()
    reports = codec.receive(MESSAGES.frame(MESSAGES.head("13900000001", modern=False), 1))
    assert not is_accepted(codec.acknowledge([reports[-1].receipt])[:cut])
