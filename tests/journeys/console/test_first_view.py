"""Journey 22: what a first view with an empty cache has the browser load (docs/console.md#budgets)."""

from fnmatch import fnmatch

from playwright.sync_api import expect

from motorpool.bench.server import EMAIL

KB = 1024
MAP_LIBRARY = ("map-*", "maplibre-gl-worker-*")
# Bytes of each resource as it came over the network; 0 for one from the browser's cache.
LOADED = """
() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .map(({ name, transferSize }) => [name, transferSize])
"""

HEADERS = 300
"""Bytes that Resource Timing adds to each answer for its headers, whatever they are (transferSize)."""


def is_map_library(address):
    name = address.rpartition("/")[2]
    return any(fnmatch(name, pattern) for pattern in MAP_LIBRARY)


def test_a_first_view_keeps_its_budget_and_a_second_one_loads_no_script_again(server, visitor):
    with server.client() as client:
        made = client.post("/devices", json={"name": "Van of the first view", "uniqueId": "first-view"})
        assert made.status_code == 200, made.text
    guest = visitor(server)
    page = guest.page
    form = {"email": EMAIL, "password": server.password}
    assert guest.context.request.post(f"{server.url}/api/session", form=form).ok
    asked = []
    page.on("request", lambda request: asked.append(request.url))

    guest.open("/fleet")
    expect(page.get_by_text("Van of the first view", exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    # A busy machine asks for the library of the map after the network was idle.
    while not any("maplibre-gl-worker" in name for name, _ in page.evaluate(LOADED)):
        page.wait_for_timeout(100)
    page.wait_for_load_state("networkidle")
    loaded = page.evaluate(LOADED)
    own = [(name, size) for name, size in loaded if not is_map_library(name)]
    assert 20 * KB < sum(size for _, size in own) <= 300 * KB, own
    files = [(name, size) for name, size in own if "/api/" not in name]
    assert sum(size - HEADERS for _, size in files) <= 200 * KB, files
    assert [url for url in asked if not url.startswith((server.url, "data:", "blob:"))] == []

    page.reload()
    expect(page.get_by_text("Van of the first view", exact=True)).to_be_visible()
    page.wait_for_load_state("networkidle")
    assets = {name: size for name, size in page.evaluate(LOADED) if "/console/assets/" in name}
    assert len(assets) > 2
    assert {name for name, size in assets.items() if size} == set()
