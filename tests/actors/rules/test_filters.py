"""Which positions are dropped: each filter alone, and none where nothing is set."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.filters import is_dropped
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Position

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
LATEST = Position(
    server_time=NOW - MINUTE,
    device_time=NOW - MINUTE,
    fix_time=NOW - MINUTE,
    valid=True,
    latitude=1.0,
    longitude=2.0,
    speed=10.0,
    attributes={"distance": 50.0, "totalDistance": 100.0, "motion": True},
)
GOOD = msgspec.structs.replace(
    LATEST,
    server_time=NOW,
    device_time=NOW,
    fix_time=NOW,
    attributes={"distance": 300.0, "totalDistance": 400.0},
)


def changed(position=GOOD, **fields):
    return msgspec.structs.replace(position, **fields)


def with_attributes(**attributes):
    return changed(attributes=GOOD.attributes | attributes)


def seconds(number):
    return timedelta(seconds=number)


@pytest.mark.parametrize(
    ("setting", "dropped", "kept"),
    [
        ({"filter_invalid": True}, changed(valid=False), GOOD),
        ({"filter_invalid": True}, changed(latitude=90.1), changed(latitude=-90)),
        ({"filter_invalid": True}, changed(longitude=-180.5), changed(longitude=180)),
        ({"filter_invalid": True}, changed(latitude=float("nan")), GOOD),
        ({"filter_zero": True}, changed(latitude=0, longitude=0), changed(latitude=0)),
        ({"filter_outdated": True}, changed(outdated=True), GOOD),
        ({"filter_future": 60}, changed(fix_time=NOW + seconds(61)), changed(fix_time=NOW + seconds(60))),
        ({"filter_past": 60}, changed(fix_time=NOW - seconds(61)), changed(fix_time=NOW - seconds(60))),
        ({"filter_accuracy": 30}, changed(accuracy=31), changed(accuracy=30)),
        ({"filter_approximate": True}, with_attributes(approximate=True), with_attributes(approximate=False)),
        ({"filter_static": True}, changed(speed=0), changed(speed=0.1)),
        ({"filter_distance": 300}, with_attributes(distance=299.9), with_attributes(distance=300)),
        # 300 m in a minute are 9.72 knots
        ({"filter_max_speed": 9.7}, GOOD, with_attributes(distance=299)),
        ({"filter_min_period": 60}, changed(fix_time=NOW - seconds(1)), GOOD),
        ({"filter_min_period": 60}, changed(fix_time=NOW - seconds(1)), changed(fix_time=NOW - MINUTE)),
        ({"filter_duplicate": True}, changed(fix_time=LATEST.fix_time), GOOD),
    ],
)
def test_a_filter_drops_what_it_names_and_nothing_else(setting, dropped, kept):
    settings = RuleSettings(**setting)
    assert settings.has_filters
    assert is_dropped(dropped, LATEST, settings, 0)
    assert not is_dropped(kept, LATEST, settings, 0)
    assert not is_dropped(dropped, LATEST, replace(settings, filter_enable=False), 0)


def test_a_new_attribute_makes_a_position_no_duplicate():
    same = changed(fix_time=LATEST.fix_time, attributes=GOOD.attributes | {"alarm": "sos"})
    assert not is_dropped(same, LATEST, RuleSettings(filter_duplicate=True), 0)


def test_the_daily_limit_and_its_interval():
    limit = RuleSettings(filter_daily_limit=3)
    assert not is_dropped(GOOD, LATEST, limit, 2)
    assert is_dropped(GOOD, LATEST, limit, 3)
    assert not is_dropped(GOOD, LATEST, replace(limit, filter_daily_limit_interval=60.0), 3)
    assert is_dropped(GOOD, LATEST, replace(limit, filter_daily_limit_interval=61.0), 3)


@pytest.mark.parametrize(
    "setting",
    [
        {"filter_static": True},
        {"filter_distance": 1000.0},
        {"filter_duplicate": True},
    ],
)
def test_silence_and_named_attributes_spare_a_position(setting):
    same = changed(speed=0, fix_time=LATEST.fix_time)
    settings = RuleSettings(**setting)
    assert is_dropped(same, LATEST, settings, 0)
    assert not is_dropped(same, LATEST, replace(settings, filter_skip_limit=59.0), 0)
    assert is_dropped(same, LATEST, replace(settings, filter_skip_limit=60.0), 0)
    named = replace(settings, filter_skip_attributes=("ignition", "door"))
    assert is_dropped(same, LATEST, named, 0)
    opened = changed(same, attributes=same.attributes | {"door": True})
    assert is_dropped(opened, changed(LATEST, attributes=LATEST.attributes | {"door": True}), named, 0)
    assert not is_dropped(opened, LATEST, named, 0)


def test_filters_that_compare_spare_late_positions():
    late = changed(fix_time=LATEST.fix_time - MINUTE, attributes={"distance": 0.0})
    comparing = RuleSettings(
        filter_distance=10.0, filter_max_speed=0.1, filter_min_period=600.0, filter_daily_limit=1
    )
    assert not is_dropped(late, LATEST, comparing, 5)
    assert is_dropped(changed(late, speed=0), LATEST, RuleSettings(filter_static=True), 0)


positions = st.builds(
    Position,
    server_time=st.just(NOW),
    fix_time=st.integers(-100_000, 100_000).map(lambda number: NOW + seconds(number)),
    valid=st.booleans(),
    outdated=st.booleans(),
    latitude=st.sampled_from([0.0, 1.0, 91.0]),
    longitude=st.sampled_from([0.0, 2.0]),
    speed=st.sampled_from([0.0, 5.0]),
    accuracy=st.floats(0, 100),
    attributes=st.dictionaries(
        st.sampled_from(["distance", "approximate"]), st.floats(0, 1e5) | st.booleans()
    ),
)


@given(positions, st.none() | st.just(LATEST), st.integers(0, 10))
def test_nothing_is_dropped_where_nothing_is_set(position, latest, stored):
    assert not is_dropped(position, latest, RuleSettings(), stored)


@given(positions, st.none() | st.just(LATEST), st.integers(0, 10), st.data())
def test_every_further_filter_drops_more(position, latest, stored, data):
    strict = {
        "filter_invalid": True,
        "filter_zero": True,
        "filter_outdated": True,
        "filter_static": True,
        "filter_accuracy": 50.0,
        "filter_past": 3600.0,
        "filter_max_speed": 100.0,
        "filter_daily_limit": 5,
    }
    some = data.draw(st.sets(st.sampled_from(sorted(strict))))
    few = RuleSettings(**{name: strict[name] for name in some})
    if is_dropped(position, latest, few, stored):
        assert is_dropped(position, latest, RuleSettings(**strict), stored)
