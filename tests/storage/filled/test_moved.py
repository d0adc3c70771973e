"""What an earlier release has filled, migrated and moved to an older PostgreSQL, is there as a whole."""

import pytest
from tests.storage.filled.loading import contents, differences
from tests.storage.filled.migrating import bring_up_to_date, open_session
from tests.storage.filled.releases import releases

from motorpool.storage.database import migrations
from motorpool.storage.postgres import dumps


@pytest.mark.parametrize("release", releases(recent=1))
async def test_a_database_is_moved_with_all_that_is_in_it(filled_url, make_older):
    await bring_up_to_date(filled_url, migrations.load())
    target = make_older()
    copied = dumps.copy(filled_url, target)
    async with open_session(filled_url) as before, open_session(target) as after:
        expected, found = await contents(before), await contents(after)
    assert list(differences(expected, found)) == []
    assert copied == (len(found) - 1, sum(len(rows) for table, rows in found.items() if table != "sequences"))
    # It is like the one that was moved: nothing is left to be done.
    assert await bring_up_to_date(target, migrations.load()) == 0
