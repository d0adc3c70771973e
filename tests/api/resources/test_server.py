from dataclasses import replace

import pytest

from motorpool.actors.gateway.settings import PortSettings
from motorpool.actors.messages.conditions import CLOCK, DISK
from motorpool.actors.settings import PublicSettings
from motorpool.codecs.devices import CODECS


async def test_anybody_reads_the_settings_with_the_interfaces_version(served):
    answer = await served.client().get("/server")
    assert answer.status == 200
    server = answer.json()
    assert server["version"] == "8.20.0"
    assert server["registration"] is False
    assert server["newServer"] is False
    assert server["storageSpace"] is None
    assert server["attributes"] == {}
    for field in ("openIdEnabled", "openIdForce", "emailEnabled", "textEnabled", "geocoderEnabled"):
        assert server[field] is False


async def test_an_empty_server_says_that_it_is_new(served, database):
    await database.execute("delete from users; update server set initialised = false")
    assert (await served.client().get("/server")).json()["newServer"] is True


async def test_an_administrator_replaces_the_settings_and_computed_fields_stay_true(served):
    server = (await served.admin.get("/server")).json()
    free, total = server["storageSpace"]
    assert 0 < free <= total
    sent = {
        **server,
        "registration": True,
        "zoom": 5,
        "attributes": {"title": "Fleet"},
        "version": "1",
        "newServer": True,
    }
    stored = await served.admin.put("/server", json=sent)
    assert stored.status == 200
    assert stored.json()["attributes"] == {"title": "Fleet"}
    assert stored.json()["version"] == "8.20.0"
    assert (await served.client().get("/server")).json()["registration"] is True
    replaced = (await served.admin.put("/server", json={})).json()
    assert (replaced["registration"], replaced["zoom"], replaced["attributes"]) == (False, 0, {})


async def test_the_settings_are_for_administrators(served):
    ann = await served.user("ann")
    assert (await ann.put("/server", json={})).status == 400
    assert (await served.client().put("/server", json={})).status == 401
    assert (await served.admin.put("/server", json={"id": 5})).status == 400


async def test_health_is_ok_in_plain_text_without_login(served):
    answer = await served.client().get("/health")
    assert (answer.status, answer.text) == (200, "OK")
    assert answer.headers["Content-Type"].startswith("text/plain")


async def test_health_is_500_while_the_server_stops(served):
    served.context.lifetime.closing.set()
    assert (await served.client().get("/health")).status == 500


async def test_health_is_500_with_the_reason_before_the_disk_is_full(served):
    conditions = served.context.system.conditions
    conditions.enter(DISK, "12 MiB of 20480 MiB are free at /var/lib/fleet")
    conditions.enter(CLOCK, "the clock was set forward by 60 s")
    for client in (served.client(), served.admin):
        answer = await client.get("/health")
        assert (answer.status, answer.text) == (500, "the disk of the server is nearly full")
    # Nothing else is refused.
    assert (await served.admin.get("/devices")).status == 200
    conditions.leave(DISK)
    assert (await served.client().get("/health")).status == 200


async def test_timezones_are_names_of_zones(served):
    zones = (await served.admin.get("/server/timezones")).json()
    assert {"UTC", "Europe/Berlin", "Asia/Shanghai"} <= set(zones)
    assert zones == sorted(zones)


async def test_protocols_are_listed_with_the_ports_that_devices_connect_to(served):
    served.context.live.settings = replace(
        served.context.settings,
        protocols=("osmand", "jt1078"),
        port=PortSettings(offset=100),
        public=PublicSettings(host="fleet.example.org"),
    )
    listed = (await served.admin.get("/server/protocols")).json()
    assert [each["name"] for each in listed] == sorted(CODECS)
    assert [each["name"] for each in listed if each["enabled"]] == ["osmand"]
    assert {each["host"] for each in listed} == {"fleet.example.org"}
    by_name = {each["name"]: each for each in listed}
    assert by_name["jt808"].items() >= {"transport": "tcp", "port": 5115, "identity": "phone"}.items()
    assert by_name["osmand"].items() >= {"transport": "http", "port": 5155, "identity": "text"}.items()
    assert by_name["gps103"].items() >= {"transport": "tcp", "udp": True, "port": 5101}.items()
    assert by_name["gps103"]["models"] == []
    assert {"NT20", "LW4G", "Seeworld"} < set(by_name["gt06"]["models"])


async def test_protocols_are_listed_with_the_ports_of_the_proxy_where_they_are_others(served):
    for offset in (0, 10_000):
        settings = replace(
            served.context.settings,
            port=PortSettings(offset=1000),
            public=PublicSettings(port_offset=offset),
        )
        served.context.live.settings = settings
        listed = (await served.admin.get("/server/protocols")).json()
        assert {each["name"]: each["port"] for each in listed} == {
            name: codec.port + offset for name, codec in CODECS.items()
        }


async def test_without_settings_all_protocols_are_enabled_and_the_host_is_that_of_the_console(served):
    listed = (await served.admin.get("/server/protocols")).json()
    assert {(each["enabled"], each["host"]) for each in listed} == {(True, None)}


async def test_the_actors_are_shown_to_administrators(served):
    ann = await served.user("ann")
    assert (await ann.get("/server/actors")).status == 400
    answer = await served.admin.get("/server/actors")
    assert answer.status == 200
    assert '"path":"directory"' in answer.text.replace("system/", "")
    (system,) = answer.json()
    assert all(child["age"] >= 0 for child in system["children"])


@pytest.mark.parametrize("path", ["/server/gc"])
async def test_diagnostics_are_for_administrators(served, path):
    ann = await served.user("ann")
    assert (await ann.get(path)).status == 400
    assert (await served.admin.get(path)).status == 200
