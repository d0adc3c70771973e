from datetime import UTC, datetime, timedelta

import msgspec

from motorpool.storage.accounts import audit, users
from motorpool.storage.records import AuditAction, User

NOW = datetime(2026, 6, 1, tzinfo=UTC)


async def between(database, start, end, **settings):
    return [
        action async for part in audit.stream_between(database, start, end, **settings) for action in part
    ]


async def test_actions_come_by_time_with_the_present_address_of_their_user(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    late = AuditAction(action_time=NOW + timedelta(seconds=2), user_id=user.id, action_type="logout")
    early = AuditAction(
        action_time=NOW,
        address="192.0.2.1",
        user_id=user.id,
        action_type="edit",
        object_type="device",
        object_id=7,
        attributes={"x": 1},
    )
    denied = AuditAction(action_time=NOW + timedelta(seconds=1), action_type="denied")
    for action in (late, early, denied):
        await audit.record(database, action)
    found = await between(database, NOW, NOW + timedelta(seconds=2))
    assert [msgspec.structs.replace(action, id=0, user_email=None) for action in found] == [
        early,
        denied,
        late,
    ]
    assert [action.user_email for action in found] == ["a@example.com", None, "a@example.com"]


async def test_what_a_user_did_stays_when_he_goes(database):
    user = await users.TABLE.insert(database, User(email="a@example.com"))
    await audit.record(database, AuditAction(action_time=NOW, user_id=user.id, action_type="login"))
    await users.TABLE.delete(database, user.id)
    (found,) = await between(database, NOW, NOW)
    assert (found.user_id, found.user_email) == (user.id, None)


async def test_both_ends_of_a_span_belong_to_it(database):
    await audit.record(database, AuditAction(action_time=NOW, action_type="login"))
    assert len(await between(database, NOW, NOW)) == 1
    assert await between(database, NOW + timedelta(microseconds=1), NOW + timedelta(1)) == []


async def test_pieces_join_without_a_gap_where_many_acts_have_one_time(database):
    for number in range(7):
        action = AuditAction(
            action_time=NOW + timedelta(seconds=number // 5), action_type="edit", object_id=number
        )
        await audit.record(database, action)
    found = await between(database, NOW, NOW + timedelta(1), batch=2)
    assert [action.object_id for action in found] == list(range(7))
