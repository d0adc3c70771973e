"""An episode of speeding goes on after a restart."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.rules.device_rules import DeviceRules
from motorpool.actors.rules.event_rules import FoldState, events_of, rebuild_state
from motorpool.actors.rules.overspeed import OverspeedState
from motorpool.actors.rules.rule_settings import RuleSettings
from motorpool.storage.records import Position

NOON = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
RULES = DeviceRules(RuleSettings(speed_limit=50.0, event_overspeed_minimal_duration=2.0))
ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 45.0, 60.0]), st.sampled_from([None, 40, 55]), st.booleans()),
    min_size=1,
    max_size=20,
)


@given(ROWS)
def test_the_state_is_that_of_a_server_that_never_stopped(rows):
    state, stored = FoldState(), []
    for second, (speed, limit, outdated) in enumerate(rows):
        moment = NOON + timedelta(seconds=second)
        attributes = {} if limit is None else {"speedLimit": limit}
        position = Position(
            device_id=7,
            device_time=moment,
            fix_time=moment,
            speed=speed,
            outdated=outdated,
            attributes=attributes,
        )
        state = events_of(position, state, RULES).state
        stored.append(position)
        assert rebuild_state(position, RULES, points=stored).overspeed == state.overspeed


def test_a_late_position_was_no_input():
    later = Position(id=1, fix_time=NOON + timedelta(seconds=9), speed=60.0)
    late = Position(id=2, fix_time=NOON, speed=10.0)
    found = rebuild_state(later, RULES, points=[later, late]).overspeed
    assert found == OverspeedState(later.fix_time)
