"""Two server processes on one database: rights, commands, and what the end of one leaves to the other
(docs/servers.md).
"""

import base64

import httpx
import pytest

from motorpool.bench.server import EMAIL

NUMBER = "13955550011"


def report(server, latitude):
    values = {"id": "van1", "lat": latitude, "lon": -8.61}
    assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200


@pytest.mark.timeout(180)
def test_two_servers_are_one_for_rights_and_commands(start_server, database_url, connected, eventually):
    settings = {"MOTORPOOL_CLUSTER_NAME": "north", "MOTORPOOL_DATABASE": database_url}
    # The administrator is made by the server that starts first.
    with start_server(settings) as staying, staying.client() as client:
        with (
            start_server(settings) as leaving,
            httpx.Client(base_url=f"{leaving.url}/api", auth=(EMAIL, staying.password), timeout=60) as other,
            connected(leaving, NUMBER) as peer,
        ):
            van = other.post("/devices", json={"name": "Van 1", "uniqueId": "van1"}).json()["id"]
            report(leaving, 41.15)

            # A command that the one server takes for a device at the other is sent at once.
            (device,) = client.get("/devices", params={"uniqueId": NUMBER}).json()
            text = base64.b16encode(b"\x83\x00\x01HELLO").decode()
            command = {"deviceId": device["id"], "type": "custom", "attributes": {"data": text}}
            assert client.post("/commands/send", json=command).status_code == 202
            assert peer.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)

            # So is one that must not wait in a queue, as the device is not offline.
            command["attributes"]["noQueue"] = True
            assert eventually(lambda: client.post("/commands/send", json=command).status_code == 202)
            assert peer.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)

            # A device that connects to the other server has given up its connection to the first.
            with connected(staying, NUMBER) as again:
                with pytest.raises(AssertionError, match="closed by the server"):
                    peer.messages(lambda _: False)
                assert other.post("/commands/send", json=command).status_code == 202
                assert again.messages(lambda message: getattr(message, "message_id", 0) == 0x8300)
            assert eventually(lambda: other.post("/commands/send", json=command).status_code == 400)

            # What is taken away at the one ends at the other.
            person = {"name": "Ana", "email": "ana@example.com", "password": "correct horse battery"}
            person["id"] = other.post("/users", json=person).json()["id"]
            link = {"userId": person["id"], "deviceId": van}
            assert other.post("/permissions", json=link).status_code == 204
            with httpx.Client(base_url=f"{staying.url}/api", timeout=60) as ana:
                form = {name: person[name] for name in ("email", "password")}
                assert ana.post("/session", data=form).status_code == 200
                assert eventually(lambda: [each["id"] for each in ana.get("/devices").json()] == [van])
                assert other.request("DELETE", "/permissions", json=link).status_code == 204
                assert eventually(lambda: ana.get("/devices").json() == [])
                assert other.delete(f"/users/{person['id']}").status_code == 204
                assert eventually(lambda: ana.get("/devices").status_code == 401)
        # What the one has stored, the other goes on from.
        report(staying, 41.16)
        found = {position["deviceId"]: position for position in client.get("/positions").json()}
        assert found[van]["latitude"] == pytest.approx(41.16)
        assert found[van]["attributes"]["totalDistance"] == pytest.approx(1112, abs=5)
