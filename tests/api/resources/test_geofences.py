async def test_the_area_is_kept_as_it_was_drawn_however_long(served):
    ring = ", ".join(f"{52 + turn / 10_000:.6f} {13 + (turn % 7) / 1000:.6f}" for turn in range(1_900))
    for area in ("CIRCLE(52.5 13.4,  50.0)", f"POLYGON (({ring}))"):
        made = await served.admin.post("/geofences", json={"name": "x", "area": area})
        assert made.status == 200, made.text
        assert (await served.admin.get(f"/geofences/{made.json()['id']}")).json()["area"] == area


async def test_too_many_points_are_refused(served):
    ring = ", ".join(["1 2"] * 2_001)
    refused = await served.admin.post("/geofences", json={"name": "x", "area": f"LINESTRING ({ring})"})
    assert (refused.status, refused.text) == (400, "area: more than 2000 points")


async def test_pytraccar_finds_the_fields_it_reads(served):
    await served.admin.post("/geofences", json={"name": "x", "area": "CIRCLE (1 2, 3)"})
    (shown,) = (await served.admin.get("/geofences")).json()
    assert set(shown) == {"id", "name", "description", "area", "calendarId", "attributes"}


async def test_widths_and_speed_limits_below_0_are_refused(served):
    drawn = {"name": "x", "area": "LINESTRING (1 2, 3 4)"}
    for name in ("polylineDistance", "speedLimit"):
        refused = await served.admin.post("/geofences", json={**drawn, "attributes": {name: -0.5}})
        assert (refused.status, refused.text) == (400, f"attributes.{name}: below 0")
    below_sea = await served.admin.post("/geofences", json={**drawn, "attributes": {"floor": -20}})
    assert below_sea.status == 200
