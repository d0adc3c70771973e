"""A database as a release has left it, for tests of what later releases make of it."""

import pytest
from tests.storage.filled.loading import load_dump
from tests.storage.filled.releases import releases


@pytest.fixture(params=releases())
def release(request):
    """The release; `make test` has the last two."""
    return request.param


@pytest.fixture(scope="session")
def loaded(postgres):
    """`loaded(release)`: the name of a database with its dump, which is copied for each test."""
    names = {}

    def load(release):
        if release not in names:
            names[release] = f"filled_{release.replace('.', '_')}"
            postgres.run(f"create database {names[release]} template template0")
            load_dump(postgres.server.url(names[release]), release)
        return names[release]

    yield load
    for name in names.values():
        postgres.run(f"drop database {name} with (force)")


@pytest.fixture
def make_filled(postgres, loaded):
    """`make_filled(release)`: the URL of a database as the release has left it."""
    names = []

    def make(release):
        names.append(f"copy_{len(names)}_of_{loaded(release)}")
        postgres.run(f"create database {names[-1]} template {loaded(release)}")
        return postgres.server.url(names[-1])

    yield make
    for name in names:
        postgres.run(f"drop database {name} with (force)")


@pytest.fixture
def filled_url(make_filled, release):
    """The URL of such a database."""
    return make_filled(release)
