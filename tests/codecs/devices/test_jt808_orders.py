from hypothesis import given
from hypothesis import strategies as st

from motorpool.codecs.devices.jt808_orders import MAX_ORDERS, SentOrders, reference_of

START, QUERY, REPLAY = 0x9101, 0x9205, 0x9201


def test_an_answer_finds_its_order_once():
    orders = SentOrders()
    reference = orders.add(START, 7)
    assert reference == 0x9101_0007
    assert orders.acknowledge(START, 7) == reference
    assert orders.acknowledge(START, 7) is None


def test_a_wrong_serial_answers_the_latest_order_of_the_kind():
    orders = SentOrders()
    orders.add(START, 7)
    orders.add(START, 8)
    orders.add(QUERY, 9)
    assert orders.acknowledge(START, 0) == reference_of(START, 8)
    assert orders.acknowledge(START, 0) == reference_of(START, 7)
    assert orders.acknowledge(START, 0) is None


def test_what_was_never_ordered_has_no_answer():
    assert SentOrders().acknowledge(START, 1) is None
    assert SentOrders().take(1, QUERY) is None


def test_an_acknowledged_query_still_waits_for_its_list():
    orders = SentOrders()
    reference = orders.add(QUERY, 3)
    orders.acknowledge(QUERY, 3)
    assert orders.take(3, QUERY) == reference
    assert orders.take(3, QUERY) is None


def test_a_list_is_taken_by_serial_before_it_is_taken_by_kind():
    orders = SentOrders()
    first, second = orders.add(QUERY, 3), orders.add(QUERY, 4)
    assert orders.take(3, QUERY) == first
    assert orders.take(0, QUERY) == second


def test_only_the_very_order_is_taken_exactly():
    orders = SentOrders()
    reference = orders.add(REPLAY, 5)
    assert orders.take_exact(REPLAY, 4) is None
    assert orders.take_exact(REPLAY, 5) == reference
    assert orders.take_exact(REPLAY, 5) is None


@given(st.lists(st.tuples(st.sampled_from([START, QUERY]), st.integers(0, 3)), max_size=100))
def test_only_the_latest_orders_are_remembered(sent):
    orders = SentOrders()
    for message_id, serial in sent:
        reference = orders.add(message_id, serial)
        assert orders.take(serial, message_id) == reference
        orders.add(message_id, serial)
        assert len(orders._acknowledged) <= MAX_ORDERS
