import pytest

from motorpool.storage.errors import SetupFailed
from motorpool.storage.postgres.requirements import check, major_version


@pytest.mark.parametrize(("version", "major"), [("15.18", 15), ("18.6", 18), ("19beta1", 19), ("20", 20)])
def test_the_major_version_is_the_first_number(version, major):
    assert major_version(version) == major


@pytest.mark.parametrize(
    ("version", "encoding", "why"),
    [
        ("14.23", "UTF8", "the database server is PostgreSQL 14.23, needed is 15 or later"),
        ("15.0", "LATIN1", "the encoding of the database is LATIN1, needed is UTF8"),
    ],
)
def test_what_cannot_be_used_is_named(version, encoding, why):
    with pytest.raises(SetupFailed, match=why):
        check(version, encoding)


def test_the_oldest_that_can_be_used_is_used():
    check("15.0", "UTF8")
