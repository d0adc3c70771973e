"""The film loop that the tests of the bench share: making it takes a second."""

from pathlib import Path

import pytest

from motorpool.bench.vehicles import footage
from motorpool.bench.vehicles.footage import Shot


@pytest.fixture(scope="session")
def loop() -> list[Shot]:
    return footage.film_loop()


@pytest.fixture(scope="session")
def film(loop: list[Shot], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loop as a file, as cameras and readers are told of it."""
    path = tmp_path_factory.mktemp("film") / "loop"
    footage.write_loop(loop, path)
    return path
