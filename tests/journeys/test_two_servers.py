"""Two server processes on one database, and what the end of one leaves to the other (docs/servers.md)."""

import httpx
import pytest

from motorpool.bench.server import EMAIL


@pytest.mark.timeout(120)
def test_a_server_takes_over_from_another(start_server, database_url):
    def settings():
        return {
            "MOTORPOOL_CLUSTER_NAME": "north",
            "MOTORPOOL_DATABASE": database_url,
        }

    def report(server, latitude):
        values = {"id": "van1", "lat": latitude, "lon": -8.61}
        assert httpx.get(f"http://{server.host}:{server.osmand_port}/", params=values).status_code == 200

    with start_server(settings()) as staying:
        # The user is made by the server that started first.
        with (
            start_server(settings()) as leaving,
            httpx.Client(base_url=f"{leaving.url}/api", auth=(EMAIL, staying.password)) as client,
        ):
            device = client.post("/devices", json={"name": "Van 1", "uniqueId": "van1"}).json()["id"]
            report(leaving, 41.15)
        with staying.client() as client:
            assert [each["id"] for each in client.get("/devices").json()] == [device]
            report(staying, 41.16)
            (position,) = client.get("/positions").json()
            assert position["latitude"] == pytest.approx(41.16)
            assert position["attributes"]["totalDistance"] == pytest.approx(1112, abs=5)
