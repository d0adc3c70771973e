from motorpool.codecs.devices.jt808.sent_commands import MAX_COMMANDS, SentCommands, command_reference

START, QUERY, REPLAY = 0x9101, 0x9205, 0x9201


def test_an_answer_finds_its_order_once():
    orders = SentCommands()
    reference = orders.add(START, 7)
    assert reference == 0x9101_0007
    assert orders.acknowledge(START, 7) == reference
    assert orders.acknowledge(START, 7) is None


def test_a_wrong_serial_answers_the_latest_order_of_the_kind():
    orders = SentCommands()
    orders.add(START, 7)
    orders.add(START, 8)
    orders.add(QUERY, 9)
    assert orders.acknowledge(START, 0) == command_reference(START, 8)
    assert orders.acknowledge(START, 0) == command_reference(START, 7)
    assert orders.acknowledge(START, 0) is None


def test_what_was_never_ordered_has_no_answer():
    assert SentCommands().acknowledge(START, 1) is None
    assert SentCommands().take(1, QUERY) is None


def test_an_acknowledged_query_still_waits_for_its_list():
    orders = SentCommands()
    reference = orders.add(QUERY, 3)
    orders.acknowledge(QUERY, 3)
    assert orders.take(3, QUERY) == reference
    assert orders.take(3, QUERY) is None


def test_a_list_is_taken_by_serial_before_it_is_taken_by_kind():
    orders = SentCommands()
    first, second = orders.add(QUERY, 3), orders.add(QUERY, 4)
    assert orders.take(3, QUERY) == first
    assert orders.take(0, QUERY) == second


def test_only_the_very_order_is_taken_exactly():
    orders = SentCommands()
    reference = orders.add(REPLAY, 5)
    assert orders.take_exact(REPLAY, 4) is None
    assert orders.take_exact(REPLAY, 5) == reference
    assert orders.take_exact(REPLAY, 5) is None


def test_the_oldest_order_is_forgotten_first():
    orders = SentCommands()
    for serial in range(MAX_COMMANDS + 1):
        orders.add(QUERY, serial)
    assert orders.take_exact(QUERY, 0) is None
    assert orders.take_exact(QUERY, 1) == command_reference(QUERY, 1)


def test_another_kind_of_order_is_not_taken():
    orders = SentCommands()
    query, _ = orders.add(QUERY, 1), orders.add(START, 2)
    assert orders.take(9, QUERY) == query
