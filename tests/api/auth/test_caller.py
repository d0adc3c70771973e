import pytest

from motorpool.api.auth.caller import Caller, Source
from motorpool.storage.records import ServerSettings, User

FLAGS = ("readonly", "device_readonly", "limit_commands", "disable_reports", "fixed_email")
OWN, SERVERS = Source.USER, Source.SERVER


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize(
    ("user", "server", "forced", "source"),
    [
        (0, 0, 0, None),
        (1, 0, 0, OWN),
        (0, 1, 0, None),
        (0, 0, 1, None),
        (0, 1, 1, SERVERS),
        (1, 1, 1, OWN),
    ],
)
def test_a_restriction_of_the_user_or_forced_by_the_server_holds_for_all_but_administrators(
    flag, user, server, forced, source
):
    settings = ServerSettings(force_settings=bool(forced), **{flag: bool(server)})
    assert Caller(user=User(**{flag: bool(user)}), server=settings).restricted_by(flag) is source
    boss = Caller(user=User(administrator=True, **{flag: bool(user)}), server=settings)
    assert boss.restricted_by(flag) is None


@pytest.mark.parametrize(
    ("fields", "manager"),
    [({}, False), ({"user_limit": 3}, True), ({"user_limit": -1}, True), ({"administrator": True}, True)],
)
def test_who_may_have_users_is_a_manager(fields, manager):
    assert Caller(user=User(**fields), server=ServerSettings()).manager is manager
