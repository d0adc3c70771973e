"""What live video on a page costs others: tiles out of sight, and many at once (docs/console.md#live)."""

import pytest
from playwright.sync_api import expect
from tests.journeys.console.filming import picture_numbers, tile_of

KEPT_MS = 10_000
"""A tile that left the screen keeps its player for so long (src/video/useShown.ts)."""
# Whether the page is looked at; Playwright keeps all pages visible.
LOOK = """
(hidden) => {
  Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event("visibilitychange"));
}
"""
# A request beside those of the players, and what the tiles say once it is answered.
ASK_BESIDE = """
async () => {
  const { status } = await fetch("/api/server");
  const said = [...document.querySelectorAll(".tile [role=status]")].map((each) => each.textContent);
  const count = (words) => said.filter((each) => each.startsWith(words)).length;
  return { status, asking: count("Asking the vehicle"), next: count("Next") };
}
"""
# The numbers of the tiles of which nothing has to be said.
UNDISTURBED = """
() => [...document.querySelectorAll(".tile")].flatMap(
  (tile, number) => tile.querySelector("[role=status]") ? [] : [number]
)
"""


@pytest.fixture(scope="module")
def server(start_server):
    """Cameras end soon after nobody reads them."""
    settings = {"MOTORPOOL_VIDEO_SEGMENT_SECONDS": "1", "MOTORPOOL_VIDEO_LINGER_SECONDS": "5"}
    with start_server(settings) as running:
        yield running


def wall_of(*vehicles, cameras, layout):
    tiles = "&".join(f"tile={each.device['id']}.{camera}" for each in vehicles for camera in cameras)
    return f"/live?{tiles}&layout={layout}"


def test_cameras_that_nobody_sees_end_and_come_back(server, visitor, vehicle, eventually):
    near, far, hidden = (
        vehicle("013900000311", 1, 2),
        vehicle("013900000312", 1, 2),
        vehicle("013900000313", 1),
    )
    guest = visitor(server, webgl=False, viewport={"width": 900, "height": 500})
    page = guest.page
    guest.context.clock.install()
    guest.log_in("/account")
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
    second = guest.context.new_page()
    second.goto(f"{server.url}{hidden.path}?channel=1")
    guest.open(wall_of(near, far, cameras=(1, 2), layout="1x1"))
    eventually(lambda: sorted(near.filming) == [1, 2] and hidden.filming == [1])
    for each in (tile_of(page, near, 1), tile_of(second, hidden, 1)):
        expect(each.get_by_role("status")).to_have_count(0)
    # No player is made for what is far below the screen.
    assert far.asked == []

    tile_of(page, far, 2).scroll_into_view_if_needed()
    second.evaluate(LOOK, True)
    eventually(lambda: sorted(far.filming) == [1, 2])
    guest.context.clock.fast_forward(KEPT_MS)
    eventually(lambda: near.filming == [] and hidden.filming == [])
    assert sorted(far.filming) == [1, 2]
    # The last picture stays.
    assert tile_of(page, near, 1).locator("video").get_attribute("poster").startswith("data:image/jpeg")

    tile_of(page, near, 1).scroll_into_view_if_needed()
    second.evaluate(LOOK, False)
    eventually(lambda: 1 in near.filming and hidden.filming == [1])
    for each in (tile_of(page, near, 1), tile_of(second, hidden, 1)):
        expect(each.get_by_role("status")).to_have_count(0)
        expect(each).to_have_class("tile")


def test_nine_cameras_leave_the_rest_of_the_page_its_connections(server, visitor, vehicle, eventually):
    vans = [vehicle(f"01390000032{number}", 1, 2, 3, cameras=3) for number in range(3)]
    for van in vans:
        van.may_film.clear()
    guest = visitor(server, webgl=False)
    page = guest.page
    guest.log_in(wall_of(*vans, cameras=(1, 2, 3), layout="3x3"))
    expect(page.get_by_role("article")).to_have_count(9)
    # Six requests that are held would be all connections of HTTP/1.1.
    assert page.evaluate("() => performance.getEntriesByType('navigation')[0].nextHopProtocol") == "http/1.1"
    beside = eventually(lambda: (seen := page.evaluate(ASK_BESIDE))["asking"] == 3 and seen)
    assert beside["status"] == 200
    assert beside["next"] >= 3
    # The cameras of those that wait for a turn are started meanwhile.
    eventually(lambda: all(set(van.asked) == {1, 2, 3} for van in vans))

    expect(page.get_by_role("article").get_by_role("status")).to_have_count(9)
    for van in vans:
        van.may_film.set()
    undisturbed = set()

    def has_shown_all():
        # Not all at once: a busy machine decodes nine films too slowly for that.
        undisturbed.update(page.evaluate(UNDISTURBED))
        found = picture_numbers(page)
        return len(undisturbed) == 9 == len(found) and None not in found

    eventually(has_shown_all)
    assert page.evaluate(ASK_BESIDE)["status"] == 200
    guest.assert_accessible()
