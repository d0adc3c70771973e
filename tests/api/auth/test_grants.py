from datetime import UTC, datetime

import msgspec
import pytest

from motorpool.api.auth.caller import Caller, Source
from motorpool.api.auth.grants import above, bounded, require_account_grant, require_grant
from motorpool.api.http.errors import BadRequest
from motorpool.storage.records import ServerSettings, User

FLAGS = ("readonly", "device_readonly", "limit_commands", "disable_reports", "fixed_email")
SOON, LATE = (datetime(2026, month, 1, tzinfo=UTC) for month in (6, 7))
RESTRICTED = dict.fromkeys(FLAGS, True)
# What people ask of a manager is walked by tests/api/granting, over HTTP.


def caller(by=None, server=None, **fields):
    return Caller(user=User(**fields), server=ServerSettings(**(server or {})), impersonator=by)


@pytest.mark.parametrize("flag", FLAGS)
def test_a_restriction_binds_what_is_given_whosever_it_is(flag):
    bound = {flag: True}
    for giver in (
        caller(**bound),
        caller(by=User(**bound)),
        caller(server=bound),
        caller(server={**bound, "force_settings": True}),
    ):
        assert above(giver, User()) == [flag]
        assert above(giver, User(**bound)) == []
        assert bounded(giver, User()) == User(**bound)
        assert bounded(giver, User(), among=()) == User()
        with pytest.raises(BadRequest, match="^" + {"device_readonly": "deviceReadonly"}.get(flag, "")):
            require_grant(giver, User(), None)
        require_grant(giver, User(**bound), None)
        # What was there stays, and may be restricted further.
        require_grant(giver, User(), User())
        require_grant(giver, User(**bound), User())
        with pytest.raises(BadRequest):
            require_grant(giver, User(), User(**bound))
    assert above(caller(), User()) == []
    assert above(caller(by=User(administrator=True, **bound)), User()) == []


def test_an_administrator_gives_everything():
    boss = caller(administrator=True, expiration_time=SOON, server=RESTRICTED, **RESTRICTED)
    given = User(administrator=True, device_limit=-1, user_limit=-1, temporary=True)
    assert above(boss, given) == []
    require_grant(boss, given, None)


@pytest.mark.parametrize("field", ["administrator", "device_limit", "user_limit", "temporary"])
def test_roles_and_limits_are_given_by_administrators_alone(field):
    given = User(**{field: 1})
    for old in (None, User()):
        with pytest.raises(BadRequest, match="only an administrator may"):
            require_grant(caller(user_limit=-1), given, old)
    require_grant(caller(user_limit=-1), given, given)


def test_nobody_lasts_longer_than_who_gives_it():
    for giver in (
        caller(expiration_time=SOON),
        caller(by=User(expiration_time=SOON), expiration_time=LATE),
        caller(by=User(expiration_time=LATE), expiration_time=SOON),
    ):
        assert giver.account_expires == SOON
        for given, is_above in ((SOON, False), (LATE, True), (None, True)):
            assert (above(giver, User(expiration_time=given)) == ["expiration_time"]) is is_above
        with pytest.raises(BadRequest, match="expirationTime: later than the caller's own"):
            require_grant(giver, User(expiration_time=LATE), User(expiration_time=SOON))
        require_grant(giver, User(expiration_time=SOON), User(expiration_time=None))
    assert caller().account_expires is None
    assert above(caller(), User()) == []


def test_neither_login_nor_messages_are_taken_of_who_has_more():
    limited, free = caller(limit_commands=True), User(email="a@b", totp_key="x")
    changes = (
        {"email": "c@d"},
        {"totp_key": None},
        {"phone": "1"},
        *({"attributes": {key: "x"}} for key in ("webhook.url", "ntfyTopic", "mail.smtp.host")),
    )
    for changed in changes:
        new = msgspec.structs.replace(free, **changed)
        with pytest.raises(BadRequest, match="more rights than the caller"):
            require_account_grant(limited, new, free, password=False)
        require_account_grant(caller(fixed_email=True), new, free, password=False)
        # It may be taken together with what the caller lacks.
        require_account_grant(
            limited, msgspec.structs.replace(new, limit_commands=True), free, password=False
        )
    with pytest.raises(BadRequest, match=r"^password: "):
        require_account_grant(limited, free, free, password=True)
    require_account_grant(
        limited, msgspec.structs.replace(free, name="x", email="A@b", login="x"), free, password=False
    )


def test_the_restriction_of_who_acts_as_a_user_is_named():
    assert caller(by=User(readonly=True)).restricted_by("readonly") is Source.IMPERSONATOR
    assert caller(by=User(readonly=True), readonly=True).restricted_by("readonly") is Source.USER
    assert caller(by=User(administrator=True, readonly=True)).restricted_by("readonly") is None
