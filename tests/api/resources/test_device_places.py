"""`GET /devices/places`: where devices are now, in words."""

from datetime import UTC, datetime

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def asked(*ids):
    return "/devices/places?" + "&".join(f"id={each}" for each in ids)


async def test_a_place_is_the_zone_else_the_address_else_the_nearest_town(served):
    ann = await served.user("ann", attributes={"language": "de"}, disableReports=True)
    numbers = ("1", "2", "3", "4")
    zoned, addressed, near, new = [await served.device(served.admin, number) for number in numbers]
    for each in (zoned, addressed, near, new):
        await served.admin.post("/permissions", json={"userId": ann.id, "deviceId": each})
    area = {"name": "Yard", "area": "CIRCLE (52.5 13.4, 50)"}
    yard = (await served.admin.post("/geofences", json=area)).json()["id"]
    await served.report(
        served.position(zoned, NOON, latitude=52.5, longitude=13.4, geofence_ids=[yard], address="Am Hof 1"),
        served.position(addressed, NOON, latitude=52.42, longitude=13.1, address="Am Hof 2"),
        served.position(near, NOON, latitude=52.42, longitude=13.1),
    )

    async def places(client):
        answer = await client.get(asked(zoned, addressed, near, new))
        return {each["deviceId"]: each["place"] for each in answer.json()}

    assert await places(served.admin) == {zoned: "Yard", addressed: "Am Hof 2", near: "Potsdam, 3 km NE"}
    # A geofence of others has no name; the right to reports is not asked for.
    assert await places(ann) == {zoned: "Am Hof 1", addressed: "Am Hof 2", near: "Potsdam, 3 km NO"}


async def test_devices_of_others_are_left_out_and_too_many_are_refused(served):
    ann = await served.user("ann", deviceLimit=-1)
    mine, other = await served.device(ann, "1"), await served.device(served.admin, "2")
    await served.report(served.position(mine, NOON), served.position(other, NOON))
    assert [each["deviceId"] for each in (await ann.get(asked(mine, other))).json()] == [mine]
    answer = await served.admin.get(asked(*range(1, 502)))
    assert (answer.status, answer.text) == (400, "id: at most 500 devices")
    assert (await served.admin.get("/devices/places")).status == 400
