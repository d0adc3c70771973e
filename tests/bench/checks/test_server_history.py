"""Each anomaly is found in a history made by hand, and none where there is none."""

import pytest

from motorpool.bench.checks.server_history import (
    Change,
    Command,
    Death,
    Decision,
    Edge,
    History,
    Listed,
    Playlist,
    Read,
    Reported,
    Shown,
    Unanswered,
    Version,
    Whereabouts,
    find_anomalies,
)


def rules(**noted: list[object]) -> list[str]:
    return [anomaly.rule for anomaly in find_anomalies(History(**noted))]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stored", "found"),
    [
        ((1, 2), []),
        ((1, 2, 3), []),
        ((1,), ["acknowledged position missing"]),
        ((1, 2, 2), ["position stored twice"]),
        ((1, 2, 3, 3), ["position stored twice"]),
        ((1, 2, 4), ["position that was not sent"]),
    ],
)
def test_an_acknowledged_position_is_there_once(stored: tuple[int, ...], found: list[str]) -> None:
    reported = Reported("13900000001", frozenset({1, 2}), frozenset({3}), stored)
    assert rules(positions=[reported]) == found


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (Command("c1", "ok", 1), []),
        (Command("c1", "ok", 0), []),
        (Command("c1", "unknown", 1), []),
        (Command("c1", "fail", 0), []),
        (Command("c1", "fail", 1), ["refused command carried out"]),
        (Command("c1", "ok", 2), ["command carried out twice"]),
        (Command("c1", "ok", 1, is_due=True), []),
        (Command("c1", "ok", 0, is_due=True), ["accepted command missing"]),
        (Command("c1", "unknown", 0, is_due=True), []),
    ],
)
def test_a_command_is_carried_out_at_most_once(command: Command, found: list[str]) -> None:
    assert rules(commands=[command]) == found


def test_every_server_shows_a_connected_device_online_after_a_while() -> None:
    shown = [
        Shown("7", "A", "online", 16.0),
        Shown("7", "B", "offline", 16.0),
        Shown("8", "B", "offline", 14.0),
    ]
    assert rules(shown=shown) == ["connected device not online"]


def test_a_server_without_a_fault_answers_every_request() -> None:
    assert rules(unanswered=[Unanswered("GET /devices", "C", "ConnectError", 100.0)]) == [
        "request without an answer"
    ]


def test_an_edge_fires_once() -> None:
    edges = [Edge("shift", float(at), runs) for at, runs in ((10, 1), (20, 0), (30, 2))]
    assert rules(edges=edges) == ["edge fired twice", "edge missed"]


def test_a_segment_number_stands_for_one_content() -> None:
    same = [
        Listed("7/1", 41, "aa", 1.0, "A"),
        Listed("7/1", 41, "aa", 2.0, "B"),
        Listed("8/1", 41, "bb", 2.0, "A"),
    ]
    assert rules(segments=same) == []
    assert rules(segments=[*same, Listed("7/1", 41, "cc", 3.0, "B")]) == ["segment number issued twice"]


@pytest.mark.parametrize(
    ("later", "found"),
    [
        (Playlist("7/1", 5, 1002, 4.0, 4.1, "A"), ["playlist went back"]),
        (Playlist("7/1", 1003, 1004, 4.0, 4.1, "A"), []),
        # Another server may be a second behind.
        (Playlist("7/1", 4, 9, 3.9, 4.0, "B"), []),
        (Playlist("7/1", 4, 9, 4.2, 4.3, "B"), ["playlist went back"]),
        # One that was frozen may show what it knew before.
        (Playlist("7/1", 4, 9, 4.2, 4.3, "B", is_settled=False), []),
        # It was requested before the answer of the last one.
        (Playlist("7/1", 4, 9, 3.05, 9.0, "A"), []),
    ],
)
def test_a_playlist_only_grows(later: Playlist, found: list[str]) -> None:
    seen = [
        Playlist("7/1", 4, 9, 2.0, 2.1, "A"),
        Playlist("7/1", 3, 8, 1.0, 1.1, "A"),
        Playlist("7/1", 1003, 1003, 3.0, 3.1, "A"),
    ]
    assert rules(playlists=seen) == []
    assert rules(playlists=[*seen, later]) == found


def test_epochs_have_no_gaps() -> None:
    taken = [Version("duty outbox", 1, 11, 1.0), Version("duty outbox", 2, 12, 2.0)]
    given_up = Version("duty outbox", 2, 0, 3.0)
    assert rules(versions=[*taken, given_up, Version("duty outbox", 3, 13, 4.0)]) == []
    assert rules(versions=[*taken, Version("duty outbox", 4, 13, 4.0)]) == ["epoch out of order"]
    assert rules(versions=[*taken, Version("duty outbox", 2, 13, 4.0)]) == ["epoch out of order"]
    assert rules(versions=[*taken, Version("duty outbox", 1, 11, 4.0)]) == ["epoch out of order"]


def test_nothing_is_decided_under_a_succeeded_epoch() -> None:
    taken = [Version("duty outbox", 1, 11, 1.0), Version("duty outbox", 2, 12, 5.0)]
    in_time = [Decision("duty outbox", 1, 4.0, "mail 1"), Decision("duty outbox", 2, 6.0, "mail 2")]
    assert rules(versions=taken, decisions=in_time) == []
    late = Decision("duty outbox", 1, 5.5, "mail 3")
    assert rules(versions=taken, decisions=[*in_time, late]) == ["decision under a succeeded epoch"]


@pytest.mark.parametrize(
    ("value", "invoked", "found"),
    [
        ("granted", 10.5, []),  # the change may be under way to this server
        ("taken", 10.5, []),
        ("taken", 11.0, []),
        ("granted", 11.0, ["outdated read"]),
        ("granted", 20.5, ["outdated read"]),  # the refused change was not made
        ("taken", 32.0, []),
        ("granted", 32.0, []),  # nobody knows whether it was made
    ],
)
def test_a_read_sees_what_was_answered_a_second_ago(value: str, invoked: float, found: list[str]) -> None:
    changes = [
        Change("device 7", "granted", 1.0, 2.0, "ok"),
        Change("device 7", "taken", 9.0, 10.0, "ok"),
        Change("device 7", "granted", 15.0, 16.0, "fail"),
        Change("device 7", "granted", 30.0, 31.0, "unknown"),
    ]
    read = Read("device 7", value, invoked, invoked + 0.1, "B")
    assert rules(changes=changes, reads=[read]) == found


def test_a_change_during_a_read_may_be_seen() -> None:
    changes = [Change("device 7", "granted", 1.0, 2.0, "ok"), Change("device 7", "taken", 5.0, 6.0, "ok")]
    assert rules(changes=changes, reads=[Read("device 7", "taken", 4.9, 5.5, "B")]) == []
    assert rules(changes=changes, reads=[Read("device 7", "taken", 4.0, 4.9, "B")]) == ["outdated read"]


def test_a_device_is_at_home_where_it_is_connected() -> None:
    assert rules(whereabouts=[Whereabouts("v1", 12, 12, 60.0), Whereabouts("v2", 12, 11, 14.0)]) == []
    assert rules(whereabouts=[Whereabouts("v2", 12, 11, 15.0)]) == ["device not at home"]
    assert rules(whereabouts=[Whereabouts("v2", 0, 11, 20.0)]) == ["device not at home"]


def test_an_outage_of_the_database_is_no_reason_to_declare_a_server_dead() -> None:
    assert rules(deaths=[Death(7, 8.0), Death(8, 20.0)]) == []
    assert rules(deaths=[Death(7, 7.9)]) == ["server declared dead too early"]
