"""The releases whose databases are migrated: each has left a dump, which `fill.py` has made.

`make test` migrates those of the last two, `make test-long` all.
"""

import gzip
import re
from functools import cache
from pathlib import Path

import pytest

DUMPS = Path(__file__).parent
SUFFIX = ".sql.gz"
RECENT = 2
"""How many are migrated by `make test`."""
_MIGRATIONS = re.compile(rb"^COPY public\.schema_migrations .*?;\n(.*?)^\\\.$", re.DOTALL | re.MULTILINE)


def version_of(release: str) -> tuple[int, ...]:
    """Return the numbers of a version."""
    return tuple(map(int, release.split(".")))


RELEASES = sorted((path.name.removesuffix(SUFFIX) for path in DUMPS.glob(f"*{SUFFIX}")), key=version_of)
"""Their versions, the oldest first."""
NEWEST = RELEASES[-1]


def dump_of(release: str) -> Path:
    """Return the file of the dump that a release has left."""
    return DUMPS / f"{release}{SUFFIX}"


@cache
def steps_of(release: str) -> int:
    """Return the number of migrations that a release has."""
    found = _MIGRATIONS.search(gzip.decompress(dump_of(release).read_bytes()))
    assert found is not None
    return len(found[1].splitlines())


def newest_before(step: int) -> str:
    """Return the newest release that has not got a migration."""
    return next(release for release in reversed(RELEASES) if steps_of(release) < step)


def releases(*names: str, recent: int = RECENT) -> list[object]:
    """Return parameters of a test, all releases without `names`; `make test` runs the last `recent`."""
    quick = RELEASES[-recent:]
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.long, id=name)
        for name in names or RELEASES
    ]
