"""The right to history: of callers, of those who send no request, and in SQL."""

from itertools import product

from motorpool.actors.accounts.user_rights import may_read_history
from motorpool.api.auth.caller import Caller
from motorpool.storage.accounts import server, users
from motorpool.storage.records import User


async def test_the_right_to_history_is_the_same_for_callers_for_others_and_in_sql(database):
    restricted = f"select not administrator and {users.restricted('disable_reports', 'users')} from users"
    for number, flags in enumerate(product((False, True), repeat=4)):
        administrator, by_user, by_server, forced = flags
        row = User(email=f"{number}@example.org", administrator=administrator, disable_reports=by_user)
        user = await users.TABLE.insert(database, row)
        sql = "update server set disable_reports = $1, force_settings = $2"
        await database.execute(sql, by_server, forced)
        settings = await server.fetch(database)
        expected = may_read_history(user, settings)
        assert Caller(user=user, server=settings).disable_reports is not expected, flags
        assert await database.fetch_value(f"{restricted} where id = $1", user.id) is not expected, flags
        if by_server == forced:
            assert expected is (administrator or not (by_user or by_server)), flags
