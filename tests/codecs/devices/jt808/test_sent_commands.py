from motorpool.codecs.devices.jt808.sent_commands import MAX_COMMANDS, SentCommands, command_reference

START, QUERY, REPLAY = 0x9101, 0x9205, 0x9201


def test_an_answer_matches_its_command_once():
    sent_commands = SentCommands()
    reference = sent_commands.add(START, 7)
    assert reference == 0x9101_0007
    assert sent_commands.acknowledge(START, 7) == reference
    assert sent_commands.acknowledge(START, 7) is None


def test_a_wrong_serial_matches_the_latest_command_of_the_id():
    sent_commands = SentCommands()
    sent_commands.add(START, 7)
    sent_commands.add(START, 8)
    sent_commands.add(QUERY, 9)
    assert sent_commands.acknowledge(START, 0) == command_reference(START, 8)
    assert sent_commands.acknowledge(START, 0) == command_reference(START, 7)
    assert sent_commands.acknowledge(START, 0) is None


def test_an_unknown_command_has_no_match():
    assert SentCommands().acknowledge(START, 1) is None
    assert SentCommands().take(1, QUERY) is None


def test_an_acknowledged_query_still_waits_for_its_list():
    sent_commands = SentCommands()
    reference = sent_commands.add(QUERY, 3)
    sent_commands.acknowledge(QUERY, 3)
    assert sent_commands.take(3, QUERY) == reference
    assert sent_commands.take(3, QUERY) is None


def test_a_list_is_taken_by_serial_before_it_is_taken_by_kind():
    sent_commands = SentCommands()
    first, second = sent_commands.add(QUERY, 3), sent_commands.add(QUERY, 4)
    assert sent_commands.take(3, QUERY) == first
    assert sent_commands.take(0, QUERY) == second


def test_take_exact_needs_id_and_serial():
    sent_commands = SentCommands()
    reference = sent_commands.add(REPLAY, 5)
    assert sent_commands.take_exact(REPLAY, 4) is None
    assert sent_commands.take_exact(REPLAY, 5) == reference
    assert sent_commands.take_exact(REPLAY, 5) is None


def test_the_oldest_command_is_forgotten_first():
    sent_commands = SentCommands()
    for serial in range(MAX_COMMANDS + 1):
        sent_commands.add(QUERY, serial)
    assert sent_commands.take_exact(QUERY, 0) is None
    assert sent_commands.take_exact(QUERY, 1) == command_reference(QUERY, 1)


def test_a_command_with_another_id_is_not_taken():
    sent_commands = SentCommands()
    query, _ = sent_commands.add(QUERY, 1), sent_commands.add(START, 2)
    assert sent_commands.take(9, QUERY) == query
