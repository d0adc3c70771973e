import pytest

from motorpool.api.auth.caller import Caller
from motorpool.storage.records import ServerSettings, User

FLAGS = ("readonly", "device_readonly", "limit_commands", "disable_reports", "fixed_email")


@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize(
    ("user", "server", "holds"), [(0, 0, False), (1, 0, True), (0, 1, True), (1, 1, True)]
)
def test_a_restriction_of_user_or_server_holds_for_all_but_administrators(flag, user, server, holds):
    settings = ServerSettings(**{flag: bool(server)})
    assert getattr(Caller(user=User(**{flag: bool(user)}), server=settings), flag) is holds
    boss = Caller(user=User(administrator=True, **{flag: bool(user)}), server=settings)
    assert getattr(boss, flag) is False


@pytest.mark.parametrize(
    ("fields", "manager"),
    [({}, False), ({"user_limit": 3}, True), ({"user_limit": -1}, True), ({"administrator": True}, True)],
)
def test_who_may_have_users_is_a_manager(fields, manager):
    assert Caller(user=User(**fields), server=ServerSettings()).manager is manager
