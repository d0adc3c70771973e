import gzip
import re
from importlib.resources import files
from pathlib import Path

import pytest
from quart_trio import QuartTrio

from motorpool.api.configuration.errors import SettingsError
from motorpool.api.http import console_files
from motorpool.api.http.console_files import add_console_routes
from motorpool.api.map_settings import MapSettings
from motorpool.api.program.configuration import load
from motorpool.api.settings import Settings

PLACES = [
    "",
    "reset-password",
    "fleet",
    "login",
    "account",
    "vehicles/12/live",
    "live",
    "events/881",
    "event/881",
    "share",
    "settings/notifications",
    "zones/4",
]
POLICY = (
    "default-src 'none'; script-src 'self'; worker-src 'self'; connect-src 'self'; "
    "img-src 'self' data: blob:; media-src 'self' blob:; style-src 'self'; font-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; object-src 'none'"
)
NO_TILES = MapSettings(tiles="none")
AS_PAGE = {"Accept": "text/html"}


@pytest.fixture
def make_client(tmp_path):
    def make(maps=NO_TILES):
        app = QuartTrio(__name__, static_folder=None)
        settings = Settings(data=tmp_path, map=maps)
        add_console_routes(app, lambda: settings, tmp_path / "override")
        return app.test_client()

    return make


@pytest.fixture
def client(make_client):
    return make_client()


@pytest.fixture
def built(monkeypatch, tmp_path):
    """A console with a build that has a script, whether or not this one is built."""
    folder = tmp_path / "api" / "console"
    for name, content in {
        "absent.html": b"not built: make install",
        "dist/index.html": b"<h1>Motorpool",
        "dist/assets/index-abc.js": b"import 1;" * 100,
        "dist/assets/index-abc.js.gz": gzip.compress(b"import 1;" * 100, 9),
        "dist/world/cities.json": b"{}",
        "dist/manifest.webmanifest": b"{}",
        "dist/icon.svg": b"<svg/>",
        "dist/chunks.json": b"{}",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    monkeypatch.setattr(console_files, "files", lambda _: tmp_path / "api")
    console_files._load.cache_clear()
    console_files._files.cache_clear()
    yield folder
    console_files._load.cache_clear()
    console_files._files.cache_clear()


async def test_the_page_loads_only_what_the_server_has_itself(client):
    page = await client.get("/")
    assert page.status_code == 200
    text = (await page.get_data()).decode()
    assert page.content_type == "text/html; charset=utf-8"
    for address in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert address.startswith(("/console/", "/api/"))
        if address.startswith("/console/"):
            assert (await client.get(address)).status_code == 200


async def test_the_policy_lets_no_foreign_script_run(client):
    policy = (await client.get("/")).headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    text = (await (await client.get("/")).get_data()).decode()
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", text)


async def test_an_unchanged_file_is_not_sent_twice(built, make_client):
    client = make_client()
    first = await client.get("/console/icon.svg")
    again = await client.get("/console/icon.svg", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert await again.get_data() == b""
    assert again.headers["ETag"] == first.headers["ETag"]


async def test_files_are_zipped_for_who_takes_it(built, make_client):
    client = make_client()
    plain = await (await client.get("/console/assets/index-abc.js")).get_data()
    answer = await client.get("/console/assets/index-abc.js", headers={"Accept-Encoding": "gzip, br"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(await answer.get_data()) == plain


@pytest.mark.parametrize(
    "name",
    ["build.py", "__init__.py", "chunks.json", "../settings.py", "none.js", "index.html"],
)
async def test_nothing_else_of_the_folder_is_served(client, name):
    answer = await client.get(f"/console/{name}")
    assert answer.status_code != 200


@pytest.mark.parametrize("path", PLACES)
async def test_the_page_is_at_the_addresses_of_all_places(built, make_client, path):
    page = await make_client().get(f"/{path}", headers=AS_PAGE)
    assert (page.status_code, await page.get_data()) == (200, b"<h1>Motorpool")
    assert page.headers["Content-Security-Policy"] == POLICY
    assert page.headers["Cache-Control"] == "no-cache"


async def test_without_a_build_its_addresses_say_what_to_do(built, make_client):
    (built / "dist" / "index.html").unlink()
    client = make_client()
    page = await client.get("/fleet", headers=AS_PAGE)
    assert (page.status_code, await page.get_data()) == (200, b"not built: make install")
    assert (await client.get("/console/assets/index-abc.js")).status_code == 500


async def test_the_page_without_a_build_says_make_install_and_leads_to_the_api(served):
    """Journey 24: the server is as useful without its console."""
    text = (files("motorpool.api") / "console" / "absent.html").read_text(encoding="utf-8")
    assert "<code>make install</code>" in text
    addresses = re.findall(r'href="([^"]+)"', text)
    assert addresses == ["/api/server", "/api/openapi.json"]
    for address in addresses:
        assert (await served.client().call("GET", address)).status == 200
    playlist = re.search(r"<code>/api(/stream[^<]+)</code>", text)[1]
    document = (await served.client().get("/openapi.json")).json()
    assert playlist in document["paths"]


async def test_files_with_a_digest_in_their_names_are_never_asked_for_again(built, make_client):
    client = make_client()
    answer = await client.get("/console/assets/index-abc.js", headers={"Accept-Encoding": "gzip"})
    assert answer.headers["Cache-Control"] == "public, max-age=31536000, immutable"
    assert await answer.get_data() == (built / "dist/assets/index-abc.js.gz").read_bytes()
    plain = await client.get("/console/assets/index-abc.js")
    assert await plain.get_data() == b"import 1;" * 100
    world = await client.get("/console/world/cities.json")
    assert (world.headers["Cache-Control"], world.content_type) == ("no-cache", "application/json")
    again = await client.get("/console/world/cities.json", headers={"If-None-Match": world.headers["ETag"]})
    assert again.status_code == 304
    manifest = await client.get("/console/manifest.webmanifest")
    assert manifest.content_type == "application/manifest+json"


def with_hosts(*hosts):
    """The policy with further hosts."""
    others = " ".join(("connect-src 'self'", *hosts))
    return POLICY.replace("connect-src 'self'", others).replace(
        "data: blob:;", f"data: blob: {' '.join(hosts)};"
    )


@pytest.mark.parametrize(
    ("maps", "hosts"),
    [
        (MapSettings(), ["https://tiles.openfreemap.org"]),
        (
            MapSettings(tiles="https://tiles.example.org/{z}/{x}/{y}.png?key=1"),
            ["https://tiles.example.org"],
        ),
        (MapSettings(tiles="http://127.0.0.1:8081/day", tiles_dark="https://example.org/night"),
         ["http://127.0.0.1:8081", "https://example.org"]),
        (
            MapSettings(
                tiles="https://example.org/style.json",
                layers=("Satellite https://photos.example.org/{z}/{x}/{y}.jpg © Somebody, and others",),
                hosts=("https://*.fonts.example.org",),
            ),
            ["https://example.org", "https://photos.example.org", "https://*.fonts.example.org"],
        ),
    ],
)  # fmt: skip
async def test_only_the_hosts_of_the_layers_enter_the_policy(built, make_client, maps, hosts):
    client = make_client(maps)
    policy = (await client.get("/fleet", headers=AS_PAGE)).headers["Content-Security-Policy"]
    assert policy == with_hosts(*hosts)
    assert (await (await client.get("/console/map.json")).get_json())["hosts"] == hosts


async def test_the_page_learns_which_layers_there_are(make_client):
    async def layers(maps):
        described = await (await make_client(maps).get("/console/map.json")).get_json()
        return [tuple(each.values()) for each in described["layers"]]

    day, night = "https://tiles.openfreemap.org/styles/positron", "https://tiles.openfreemap.org/styles/dark"
    photos = "https://photos.example.org/{z}/{x}/{y}.jpg"
    file = Path("map/region.pmtiles")
    satellite = f"From above  {photos}  © Somebody, and others"
    own = MapSettings(
        tiles="https://example.org/day", attribution="© Us", layers=(satellite, f"Bare {photos}")
    )
    assert await layers(MapSettings()) == [(day, night, None, None)]
    assert await layers(NO_TILES) == []
    assert await layers(MapSettings(file=file)) == [
        ("/map/region.pmtiles", "/map/region.pmtiles", None, None)
    ]
    assert await layers(own) == [
        ("https://example.org/day", "https://example.org/day", None, "© Us"),
        (photos, photos, "From above", "© Somebody, and others"),
        (photos, photos, "Bare", None),
    ]


@pytest.mark.parametrize(
    ("maps", "shown"),
    [
        (MapSettings(), False),
        (MapSettings(share_tiles=True), True),
        (MapSettings(tiles="https://example.org/day"), True),
        (MapSettings(tiles="https://example.org/day", share_tiles=False), False),
    ],
)
async def test_guests_ask_other_hosts_only_where_the_settings_say_so(built, make_client, maps, shown):
    client = make_client(maps)
    page = await client.get("/share", headers=AS_PAGE)
    assert (page.status_code, await page.get_data()) == (200, b"<h1>Motorpool")
    assert page.headers["Content-Security-Policy"] == (with_hosts(*maps.origins) if shown else POLICY)
    assert (await (await client.get("/console/map.json")).get_json())["shareTiles"] is shown


async def test_the_file_of_the_map_is_served_by_ranges_and_nothing_beside_it(make_client, tmp_path):
    (tmp_path / "map").mkdir()
    (tmp_path / "map" / "region.pmtiles").write_bytes(bytes(range(256)))
    (tmp_path / "map" / "secret.pmtiles").write_bytes(b"secret")
    client = make_client(MapSettings(file=Path("map/region.pmtiles")))
    part = await client.get("/map/region.pmtiles", headers={"Range": "bytes=16-19"})
    assert (part.status_code, await part.get_data()) == (206, bytes([16, 17, 18, 19]))
    assert part.headers["Content-Range"] == "bytes 16-19/256"
    assert part.headers["Cache-Control"] == "public, max-age=86400"
    assert (await client.get("/map/secret.pmtiles")).status_code == 500
    assert (await make_client().get("/map/region.pmtiles")).status_code == 500


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("TILES", "tiles.example.org/{z}/{x}/{y}.png", "is neither openfreemap, none nor an address"),
        ("TILES", "https://user@tiles.example.org/{z}/{x}/{y}.png", "is neither"),
        ("TILES", "https://tiles.example.org; script-src *//{z}", "is neither"),
        ("TILES", "https://tiles.example.org;x/{z}", "is neither"),
        ("TILES", "https://tiles.example.org/", "is neither"),
        ("TILES", "ftp://tiles.example.org/style.json", "is neither"),
        ("TILES_DARK", "none", "is not an address such as https://tiles"),
        ("LAYERS", "https://tiles.example.org/{z}/{x}/{y}.png", "is no layer such as Satellite https"),
        ("LAYERS", "Satellite https://a.b;x/{z}", "is no layer"),
        ("LAYERS", ",".join(f"L{number} https://example.org/style" for number in range(9)), "more than 8"),
        ("HOSTS", "fonts.example.org", "is no host such as https://fonts.example.org"),
        ("HOSTS", "https://example.org/fonts", "is no host"),
        ("HOSTS", "https://*", "is no host"),
    ],
)
def test_a_wrong_address_of_the_map_is_refused_at_the_start(name, text, problem, tmp_path):
    with pytest.raises(SettingsError, match=problem):
        load(None, {f"MOTORPOOL_MAP_{name}": text, "MOTORPOOL_DATA": str(tmp_path)})
