import pytest

UNKNOWN = ("Europe/Atlantis", 5, "../etc/passwd", "Europe", ["UTC"])


@pytest.mark.parametrize("family", ["devices", "groups"])
async def test_a_record_with_an_unknown_time_zone_of_its_clock_is_refused(served, family):
    for zone in UNKNOWN:
        body = {"name": "a", "uniqueId": "1", "attributes": {"decoder.timezone": zone}}
        refused = await served.admin.post(f"/{family}", json=body)
        text = "attributes.decoder.timezone: not a known time zone, see GET /server/timezones"
        assert (refused.status, refused.text) == (400, text), zone
    for number, zone in enumerate(("Asia/Shanghai", "Etc/GMT-8", "", None)):
        body = {"name": "a", "uniqueId": str(number), "attributes": {"decoder.timezone": zone}}
        assert (await served.admin.post(f"/{family}", json=body)).status == 200, zone


@pytest.mark.parametrize("key", ["timezone", "decoder.timezone"])
async def test_the_server_takes_known_time_zones_only(served, key):
    body = (await served.admin.get("/server")).json()
    for zone in UNKNOWN:
        refused = await served.admin.put("/server", json={**body, "attributes": {key: zone}})
        assert refused.text == f"attributes.{key}: not a known time zone, see GET /server/timezones"
    for zone in ("Asia/Shanghai", "", None):
        assert (await served.admin.put("/server", json={**body, "attributes": {key: zone}})).status == 200
