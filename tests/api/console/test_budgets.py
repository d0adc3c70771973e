import json
import random

import pytest

from motorpool.api.console.budgets import exceeded, measure


@pytest.fixture
def dist(tmp_path):
    """A built console: `dist(name=(bytes that do not compress, chunk))`."""

    def build(files, chunks):
        for name, size in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_bytes(random.Random(name).randbytes(size))
        (tmp_path / "chunks.json").write_text(json.dumps(chunks))
        return tmp_path

    return build


CHUNKS = {
    "index.html": {
        "file": "assets/index-1.js",
        "isEntry": True,
        "imports": ["_shared-1.js"],
        "css": ["assets/index-1.css"],
    },
    "_shared-1.js": {"file": "assets/shared-1.js"},
    "_map-1.js": {"file": "assets/map-1.js"},
    "src/places/fleet/Fleet.tsx": {"file": "assets/Fleet-1.js", "imports": ["_shared-1.js", "_map-1.js"]},
    "src/places/live/Live.tsx": {"file": "assets/Live-1.js", "imports": ["_shared-1.js"]},
    "src/i18n/en/index.ts": {"file": "assets/en-1.js"},
    "src/i18n/pt/index.ts": {"file": "assets/pt-1.js"},
    "src/i18n/pt-BR/index.ts": {"file": "assets/pt-BR-1.js", "imports": ["src/i18n/pt/index.ts"]},
}
FILES = {
    "assets/index-1.js": 10_000,
    "assets/index-1.css": 2_000,
    "assets/shared-1.js": 3_000,
    "assets/map-1.js": 300_000,
    "assets/map-1.js.gz": 300_000,
    "assets/maplibre-gl-worker-1.js": 100_000,
    "assets/Fleet-1.js": 20_000,
    "assets/Live-1.js": 5_000,
    "assets/en-1.js": 3_500,
    "assets/pt-1.js": 3_000,
    "assets/pt-BR-1.js": 1_000,
    "world/cities.json": 50_000,
}


def test_each_part_counts_what_it_loads_once(dist):
    found = measure(dist(FILES, CHUNKS))
    expected = {
        # With both files of the largest language.
        "start": 19_000,
        "map": 400_000,
        "src/places/fleet/Fleet.tsx": 20_000,
        "src/places/live/Live.tsx": 5_000,
        "src/i18n/en/index.ts": 3_500,
        "first view": 89_000,
    }
    assert found.keys() == expected.keys()
    for name, size in expected.items():
        assert size <= found[name] < size + 500, name
    assert exceeded(dist(FILES, CHUNKS)) == []


def test_a_broken_budget_is_a_sentence(dist):
    larger = FILES | {"assets/Live-1.js": 51_000, "assets/shared-1.js": 90_000}
    assert exceeded(dist(larger, CHUNKS)) == [
        "start has 103.7 KB compressed, 90 are allowed",
        "src/places/live/Live.tsx has 49.8 KB compressed, 40 are allowed",
    ]
