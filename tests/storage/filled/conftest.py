"""A database as a release has left it, for tests of what later releases make of it."""

import pytest
from tests.storage.filled.loading import load_dump


@pytest.fixture(scope="session")
def loaded(postgres):
    """The name of a database with the dump, which is copied for each test."""
    postgres.run("create database filled template template0")
    load_dump(postgres.server.url("filled"))
    yield "filled"
    postgres.run("drop database filled with (force)")


@pytest.fixture
def make_filled(postgres, loaded):
    """`make_filled()`: the URL of a database as the release has left it."""
    names = []

    def make():
        names.append(f"{loaded}_{len(names)}")
        postgres.run(f"create database {names[-1]} template {loaded}")
        return postgres.server.url(names[-1])

    yield make
    for name in names:
        postgres.run(f"drop database {name} with (force)")


@pytest.fixture
def filled_url(make_filled):
    """The URL of such a database."""
    return make_filled()
