import pytest

from motorpool.api.auth.caller import Caller
from motorpool.api.auth.rights import (
    ADMINISTER,
    ANNOUNCE,
    CHANGE,
    LINK,
    READ_AUDIT,
    READ_HISTORY,
    SEND_UNSAVED_COMMANDS,
    SHARE_OBJECTS,
)
from motorpool.api.http.errors import BadRequest, Forbidden, Unauthorized
from motorpool.storage.records import ServerSettings, User

# What the rights mean to requests is walked in test_permission_walk.py.


def caller(**fields):
    return Caller(user=User(**fields), server=ServerSettings())


ALL = {"readonly": True, "device_readonly": True, "limit_commands": True, "disable_reports": True}


@pytest.mark.parametrize(
    ("right", "fields", "text"),
    [
        (CHANGE["group"], {"readonly": True}, "the user is read-only"),
        (CHANGE["device"], {"device_readonly": True}, "the user may not change devices"),
        (CHANGE["device"], ALL, "the user is read-only"),
        (CHANGE["command"], {"limit_commands": True}, "the user may only send saved commands"),
        (SEND_UNSAVED_COMMANDS, {"limit_commands": True}, "the user may only send saved commands"),
        (READ_HISTORY, {"disable_reports": True}, "the user has no access to reports and position history"),
        (LINK, {"readonly": True}, "the user is read-only"),
        (ADMINISTER, {"user_limit": -1}, "only an administrator may do this"),
        (ANNOUNCE, {}, "only an administrator or a manager may do this"),
    ],
)
def test_who_has_not_the_right_is_told_why(right, fields, text):
    with pytest.raises(BadRequest) as refused:
        right.require(caller(**fields))
    assert refused.value.text.startswith(text)


def test_a_refusal_names_the_server_where_it_forces_the_restriction():
    forcing = ServerSettings(force_settings=True, limit_commands=True)
    for fields, text in (
        ({}, "the user may only send saved commands, by the settings of the server"),
        ({"limit_commands": True}, "the user may only send saved commands"),
    ):
        with pytest.raises(BadRequest) as refused:
            SEND_UNSAVED_COMMANDS.require(Caller(user=User(**fields), server=forcing))
        assert refused.value.text == text


@pytest.mark.parametrize(
    ("right", "fields", "refusal"),
    [(READ_AUDIT, {}, Unauthorized), (SHARE_OBJECTS, {"temporary": True}, Forbidden)],
)
def test_some_refusals_are_others_than_400(right, fields, refusal):
    with pytest.raises(refusal):
        right.require(caller(**fields))


@pytest.mark.parametrize(
    "right", [*CHANGE.values(), LINK, SEND_UNSAVED_COMMANDS, READ_HISTORY, ADMINISTER, READ_AUDIT]
)
def test_nothing_restricts_an_administrator(right):
    right.require(caller(administrator=True, **ALL))


def test_a_restriction_takes_only_what_it_names():
    CHANGE["device"].require(caller(limit_commands=True, disable_reports=True))
    CHANGE["geofence"].require(caller(device_readonly=True))
    SEND_UNSAVED_COMMANDS.require(caller(readonly=True))
    ANNOUNCE.require(caller(user_limit=1))
