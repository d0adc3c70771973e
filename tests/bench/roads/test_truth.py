"""What counts as a stop."""

from motorpool.bench.roads.truth import Stay, long_stays


def test_stays_of_the_least_duration_and_more_are_stops() -> None:
    stays = [Stay(0, 180, "parked"), Stay(300, 479, "halt"), Stay(600, 900, "idle")]
    assert long_stays(stays, []) == [stays[0], stays[2]]
    assert long_stays(stays, [], min_duration=200) == [stays[2]]


def test_stays_that_follow_each_other_are_one_of_the_kind_of_the_longest() -> None:
    stays = [Stay(0, 100, "parked"), Stay(100, 900, "site"), Stay(900, 1000, "tow"), Stay(1300, 1500, "tow")]
    assert long_stays(stays, []) == [Stay(0, 1000, "site"), Stay(1300, 1500, "tow")]


def test_a_long_halt_on_the_way_is_a_stop_and_one_within_a_stay_is_not_another() -> None:
    stays = [Stay(0, 1000, "yard")]
    halts = [(0, 300), (400, 1000), (2000, 2179), (3000, 3180)]
    assert long_stays(stays, halts) == [*stays, Stay(3000, 3180, "jam")]
