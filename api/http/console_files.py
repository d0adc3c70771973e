"""The console: its page at every address of a place, its files, and the map (docs/console.md#delivery).

Files in the override folder replace the console's files of the same path; other files there are served too
(docs/server.md#files), but never below /api.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path

import msgspec
from quart import Response, request
from quart_trio import QuartTrio
from werkzeug.routing import PathConverter

from motorpool.actors.files.media_store import open_below
from motorpool.api.http.errors import ResourceNotFound
from motorpool.api.http.file_responses import send_file
from motorpool.api.http.static_files import StaticFile, answer_file, load_files, make_file
from motorpool.api.map_settings import MapSettings
from motorpool.api.settings import Settings

PAGE = "index.html"
PAGE_OF_GUESTS = "guests.html"
PLACE_OF_GUESTS = "share"
UNSERVED = {"chunks.json"}

OVERRIDE_POLICY = (
    "default-src 'self'; script-src 'self'; worker-src 'self' blob:; media-src 'self' blob:; "
    "connect-src 'self'; img-src 'self' data:; style-src 'self'; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'self'"
)
"""Policy of overriding files, which may be pages of their own: hls.js plays from blobs."""


class OutsideApi(PathConverter):
    """Matches any path outside the API, which answers unknown paths itself."""

    regex = r"(?!api(?:/|$))[^/].*?"


def security_policy(origins: Sequence[str]) -> str:
    """Return the Content-Security-Policy of the console, whose map loads from these other servers."""
    others = "".join(f" {origin}" for origin in origins)
    # MapLibre has the pictures of its controls as data:, stills and media are blobs.
    return (
        f"default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'{others}; "
        f"img-src 'self' data: blob:{others}; media-src 'self' blob:; style-src 'self'; font-src 'self'; "
        "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; object-src 'none'"
    )


def add_console_routes(app: QuartTrio, settings: Callable[[], Settings], override: Path) -> None:
    """Serve the page at `/`, the other files under `/console/`, and the files of the override folder.

    A path without a file, opened as a page, is a place of the console and gets the page. `settings` returns
    those in use: with another map, pages that are loaded from then on have another policy.
    """
    app.url_map.converters["outside_api"] = OutsideApi

    @app.get("/")
    async def console() -> Response:
        return await _send(override, "index.html") or answer_file(_files(settings().map)[PAGE])

    @app.get("/<outside_api:path>")
    async def file(path: str) -> Response:
        found = await _send(override, path)
        map_file = settings().map.file
        if found is None and map_file is not None and path == f"map/{map_file.name}":
            found = await _send(settings().data, str(map_file), "public, max-age=86400")
        if found is not None:
            return found
        known = _files(settings().map)
        name = path.removeprefix("console/")
        if name != path and name in known and not name.endswith(".html"):
            return answer_file(known[name])
        if "." not in path and "text/html" in request.headers.get("Accept", ""):
            return answer_file(known[PAGE_OF_GUESTS]) if path == PLACE_OF_GUESTS else await console()
        raise ResourceNotFound("no such file")

    async def _send(folder: Path, path: str, caching: str = "no-cache") -> Response | None:
        if any(segment in {"", ".", ".."} for segment in path.split("/")):
            return None
        headers = {"Cache-Control": caching, "Content-Security-Policy": OVERRIDE_POLICY}
        try:
            return await send_file(request, partial(open_below, folder, path), path, headers)
        except FileNotFoundError:
            return None


@lru_cache(maxsize=2)
def _files(settings: MapSettings) -> dict[str, StaticFile]:
    policy = security_policy(settings.origins)
    known = {**_load(policy), "map.json": _describe_map(settings, policy)}
    of_guests = policy if settings.guests_see_tiles else security_policy(())
    return {**known, PAGE_OF_GUESTS: replace(known[PAGE], policy=of_guests)}


@lru_cache(maxsize=2)
def _load(policy: str) -> dict[str, StaticFile]:
    """Return all files by their path under `/console/`; without a build the page says what is missing."""
    folder = files("motorpool.api") / "console"
    found = {PAGE: make_file(PAGE, (folder / "absent.html").read_bytes(), policy)}
    if (folder / "dist" / PAGE).is_file():
        found.update(load_files(folder / "dist", policy))
    return {name: file for name, file in found.items() if name not in UNSERVED}


def _describe_map(settings: MapSettings, policy: str) -> StaticFile:
    described = {
        "layers": settings.all_layers,
        "hosts": settings.origins,
        "shareTiles": settings.guests_see_tiles,
    }
    return make_file("map.json", msgspec.json.encode(described), policy)
