import pytest

from motorpool.storage.database.driver_errors import DriverError, translate
from motorpool.storage.errors import (
    Conflict,
    DatabaseReadOnly,
    DiskFull,
    LockNotAvailable,
    StatementRejected,
    StorageError,
    StorageUnavailable,
    TookTooLong,
    TooManyConnections,
)


@pytest.mark.parametrize(
    "state",
    [
        "08006",
        "53200",
        "57P01",
        "57P02",
        "57P03",
        "58030",
    ],
)
def test_what_may_pass_is_unavailable(state):
    error = translate(DriverError(state, "the database system is in recovery mode"))
    assert type(error) is StorageUnavailable
    assert str(error) == "the database system is in recovery mode"


@pytest.mark.parametrize(
    ("state", "kind", "text"),
    [
        ("25006", DatabaseReadOnly, "the database is read-only now"),
        ("53100", DiskFull, "the disk of the database is full"),
        ("53300", TooManyConnections, "the database takes no more connections"),
    ],
)
def test_outages_are_told_apart(state, kind, text):
    error = translate(DriverError(state, "details for administrators"))
    assert type(error) is kind
    assert isinstance(error, StorageUnavailable)
    assert (error.text, error.is_outage) == (text, True)


def test_a_full_disk_is_known_whatever_could_not_be_written():
    error = translate(DriverError("58030", 'could not write to file "x": No space left on device'))
    assert type(error) is DiskFull


@pytest.mark.parametrize("state", ["40001", "25P03", "40P01", "55P03", "57014"])
def test_what_concerns_one_transaction_is_no_outage(state):
    error = translate(DriverError(state, "canceled"))
    assert isinstance(error, StorageUnavailable)
    assert not error.is_outage


@pytest.mark.parametrize("state", ["40P01", "55P03"])
def test_a_lock_that_is_not_free_leaves_nothing_written(state):
    error = translate(DriverError(state, "canceling statement due to lock timeout"))
    assert type(error) is LockNotAvailable
    assert isinstance(error, StorageUnavailable)


def test_a_statement_that_takes_too_long_is_told_from_an_outage():
    error = translate(DriverError("57014", "canceling statement due to statement timeout"))
    assert type(error) is TookTooLong
    assert isinstance(error, StorageUnavailable)


@pytest.mark.parametrize("state", ["22001", "22P05", "22021", "54000", "23514"])
def test_what_the_tables_cannot_hold_is_rejected(state):
    error = translate(DriverError(state, "no"))
    assert type(error) is StatementRejected
    # The text of the database is for the log.
    assert error.shown in {"a value cannot be stored", "a value is not allowed"}


@pytest.mark.parametrize("state", ["42601", "42P01", ""])
def test_a_mistake_of_ours_is_neither(state):
    assert type(translate(DriverError(state, "no"))) is StorageError


@pytest.mark.parametrize(
    ("detail", "field"),
    [
        ("Key (unique_id)=(123) already exists.", "uniqueId"),
        ("Key (lower(email))=(a@b.c) already exists.", "email"),
        ("Key (ltrim(unique_id, '0'::text))=(12) already exists.", "uniqueId"),
        ("Schlüssel »(unique_id)=(123)« existiert bereits.", "uniqueId"),
        ("", "a value"),
    ],
)
def test_a_conflict_names_the_field_and_never_its_value(detail, field):
    error = translate(DriverError("23505", "duplicate key value", detail, "some_constraint"))
    assert isinstance(error, Conflict)
    assert (error.field, error.constraint) == (field, "some_constraint")
    assert str(error) == f"{field} is taken already"


def test_a_reference_to_nothing_is_named():
    error = translate(
        DriverError("23503", "violates", 'Key (group_id)=(99) is not present in table "groups".')
    )
    assert isinstance(error, StatementRejected)
    assert str(error) == "groupId 99 refers to nothing that exists"


def test_a_missing_value_is_named():
    assert str(translate(DriverError("23502", "null value", column="fix_time"))) == "fixTime is missing"
