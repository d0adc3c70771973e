import gzip
import re

import pytest
from quart_trio import QuartTrio

from motorpool.api.http.console_files import add_console_routes


@pytest.fixture
def client(tmp_path):
    app = QuartTrio(__name__, static_folder=None)
    add_console_routes(app, tmp_path / "override")
    return app.test_client()


async def test_the_page_loads_only_what_the_server_has_itself(client):
    page = await client.get("/")
    assert page.status_code == 200
    text = (await page.get_data()).decode()
    assert page.content_type == "text/html; charset=utf-8"
    for address in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert address.startswith("/console/")
        answer = await client.get(address)
        # hls.js is there after `make install`; the page works without it.
        assert answer.status_code == 200 or (answer.status_code, address) == (
            500,
            "/console/vendor/hls.min.js",
        )


async def test_the_policy_lets_no_foreign_script_run(client):
    policy = (await client.get("/")).headers["Content-Security-Policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    text = (await (await client.get("/")).get_data()).decode()
    assert not re.search(r"<script(?![^>]*src=)|\son\w+=|style=", text)


async def test_an_unchanged_file_is_not_sent_twice(client):
    first = await client.get("/console/console.js")
    again = await client.get("/console/console.js", headers={"If-None-Match": first.headers["ETag"]})
    assert again.status_code == 304
    assert await again.get_data() == b""
    assert again.headers["ETag"] == first.headers["ETag"]


async def test_files_are_zipped_for_who_takes_it(client):
    plain = await (await client.get("/console/console.css")).get_data()
    answer = await client.get("/console/console.css", headers={"Accept-Encoding": "gzip, br"})
    assert answer.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(await answer.get_data()) == plain


@pytest.mark.parametrize(
    "name",
    ["build.py", "__init__.py", "chunks.json", "../settings.py", "none.js", "index.html"],
)
async def test_nothing_else_of_the_folder_is_served(client, name):
    answer = await client.get(f"/console/{name}")
    assert answer.status_code != 200


@pytest.mark.parametrize("path", ["fleet", "login", "vehicles/12/live", "events/881", "share", "zones/4"])
async def test_the_new_console_is_at_its_addresses(client, path):
    page = await client.get(f"/{path}", headers={"Accept": "text/html"})
    assert page.status_code == 200
    text = (await page.get_data()).decode()
    assert 'src="/console/console.js"' not in text
    assert 'src="/console/assets/' in text or "make install" in text
