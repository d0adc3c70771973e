"""How many bytes the built console may have browsers load (docs/console.md#budgets)."""

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

KB = 1024
LIBRARIES = {
    "map": ("map-*", "maplibre-gl-worker-*"),
    "video": ("video-*", "hls.worker-*"),
    "chart": ("chart-*",),
    "drawing": ("drawing-*",),
    "tiles": ("pmtiles-*",),
}
"""Names of files by library; its worker is loaded with it."""
LIMITS = {"start": 90, "map": 446, "video": 155, "chart": 23, "drawing": 36, "tiles": 16, "first view": 220}
"""Kilobytes of 1,024 bytes, compressed by gzip at level 9."""
OTHER_LIMIT = 40
"""Limit of each place, and of each chunk that several places share."""
LANGUAGE = "src/i18n/*/index.ts"
"""What the start loads of the reader's language; the largest counts."""
FIRST_PLACE = "src/places/fleet/"
FIRST_WORLD = ("countries-110m.json", "countries.json", "cities.json")

Chunks = Mapping[str, Mapping[str, Any]]


def exceeded(dist: Path) -> list[str]:
    """Return a sentence for each budget that the files in `dist` break."""
    found = []
    for name, size in measure(dist).items():
        limit = LIMITS.get(name, OTHER_LIMIT)
        if size > limit * KB:
            found.append(f"{name} has {size / KB:.1f} KB compressed, {limit} are allowed")
    return found


def measure(dist: Path) -> dict[str, int]:
    """Return the compressed bytes of each part: `start`, each library, each other chunk, and `first view`.

    `start` is what each page loads, its texts included. A place counts without what it shares. `first view`
    is the start, the fleet without its map library, and what the map without tiles shows.
    """
    chunks: Chunks = json.loads((dist / "chunks.json").read_text(encoding="utf-8"))
    start = _loaded(chunks, [key for key, chunk in chunks.items() if chunk.get("isEntry")])
    languages = [_loaded(chunks, [key]) - start for key in chunks if fnmatch(key, LANGUAGE)]
    start |= max(languages, key=lambda files: _sum(dist, files), default=set())
    found = {"start": _sum(dist, start)}
    libraries = {name: _matching(dist, patterns) for name, patterns in LIBRARIES.items()}
    found |= {name: _sum(dist, files) for name, files in libraries.items() if files}
    counted = start.union(*libraries.values())
    for key, chunk in chunks.items():
        own = set(_own(chunk)) - counted
        if own and key.endswith((".ts", ".tsx", ".js")) and chunk["file"] in own:
            found[key.lstrip("_")] = _sum(dist, own)
    first = _loaded(chunks, [key for key in chunks if key.startswith(FIRST_PLACE)])
    world = {f"world/{name}" for name in FIRST_WORLD if (dist / "world" / name).exists()}
    found["first view"] = _sum(dist, (start | first | world) - libraries["map"])
    return found


def _loaded(chunks: Chunks, keys: Iterable[str]) -> set[str]:
    """Return the files of these chunks and of all that they import statically."""
    found: set[str] = set()
    visited: set[str] = set()
    waiting = list(keys)
    while waiting:
        key = waiting.pop()
        if key not in visited:
            visited.add(key)
            found.update(_own(chunks[key]))
            waiting += chunks[key].get("imports", ())
    return found


def _own(chunk: Mapping[str, Any]) -> Iterator[str]:
    yield chunk["file"]
    yield from chunk.get("css", ())


def _matching(dist: Path, patterns: Iterable[str]) -> set[str]:
    # Not the files that build.py compresses afterwards.
    names = [path.name for path in (dist / "assets").iterdir() if path.suffix != ".gz"]
    return {f"assets/{name}" for name in names if any(fnmatch(name, each) for each in patterns)}


def _sum(dist: Path, files: Iterable[str]) -> int:
    return sum(len(gzip.compress((dist / name).read_bytes(), 9)) for name in files)
