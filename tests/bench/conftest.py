"""The film loop that the tests of the bench share: making it takes a second."""

from pathlib import Path

import pytest

from motorpool.bench.vehicles import media_loop
from motorpool.bench.vehicles.media_loop import LoopUnit


@pytest.fixture(scope="session")
def loop() -> list[LoopUnit]:
    return media_loop.make_loop()


@pytest.fixture(scope="session")
def film(loop: list[LoopUnit], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The loop as a file, as cameras and readers receive it."""
    path = tmp_path_factory.mktemp("film") / "loop"
    media_loop.write_loop(loop, path)
    return path
