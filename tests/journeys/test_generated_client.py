"""A client that openapi-python-client made from our document: typed objects go out and come back."""

import base64
import importlib
import json
import subprocess
import sys
from datetime import UTC, datetime
from types import SimpleNamespace

import httpx
import pytest

from motorpool.bench.server import EMAIL

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)

CONFIG = {
    # The generator knows few media types; these it is told to treat as one that it knows.
    "content_type_overrides": {
        **dict.fromkeys(
            (
                *("image/jpeg", "image/png", "image/gif", "image/webp", "video/mp2t", "video/mp4", "*/*"),
                *("application/gpx+xml", "application/vnd.google-earth.kmz", "application/zip", "text/csv"),
                "application/x-tar",
                "application/vnd.google-earth.kml+xml",
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            ),
            "application/octet-stream",
        ),
        "application/vnd.apple.mpegurl": "text/plain",
    },
    "post_hooks": [],
}


@pytest.fixture(scope="module")
def generated(server, tmp_path_factory):
    """The generated package; a warning of the generator is a failure."""
    folder = tmp_path_factory.mktemp("generated")
    config = folder / "config.json"
    config.write_text(json.dumps(CONFIG))
    document = folder / "openapi.json"
    document.write_bytes(httpx.get(f"{server.url}/api/openapi.json", timeout=30).content)
    command = [
        sys.executable,
        "-m",
        "openapi_python_client",
        "generate",
        "--fail-on-warning",
        "--meta",
        "none",
    ]
    command += [
        "--path",
        str(document),
        "--config",
        str(config),
        "--output-path",
        str(folder / "fleet_client"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "warning" not in (done.stdout + done.stderr).lower()
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("fleet_client")
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name.partition(".")[0] == "fleet_client"]:
            del sys.modules[name]


@pytest.fixture
def api(generated):
    """`api.devices.list_devices`: modules of the package by tag and operation; `api.models` its types."""

    class Tag:
        def __init__(self, tag):
            self._tag = tag

        def __getattr__(self, operation):
            return importlib.import_module(f"fleet_client.api.{self._tag}.{operation}")

    tags = ("devices", "geofences", "positions", "session", "permissions", "server", "attributes", "commands")
    return SimpleNamespace(
        models=importlib.import_module("fleet_client.models"), **{tag: Tag(tag) for tag in tags}
    )


@pytest.fixture
def client(generated, server):
    """Logged in with Basic."""
    credential = base64.b64encode(f"{EMAIL}:{server.password}".encode()).decode()
    made = generated.AuthenticatedClient(
        f"{server.url}/api", token=credential, prefix="Basic", raise_on_unexpected_status=True
    )
    with made as opened:
        yield opened


def test_devices_are_made_listed_changed_and_deleted_as_typed_objects(api, client):
    models = api.models
    sent = models.DeviceInput(name="Truck", unique_id="generated-1", category="truck", expiration_time=NOON)
    made = api.devices.create_device.sync(client=client, body=sent)
    assert isinstance(made, models.Device)
    assert (made.name, made.unique_id, made.status, made.last_update) == (
        "Truck",
        "generated-1",
        "offline",
        None,
    )
    assert made.expiration_time == NOON
    listed = api.devices.list_devices.sync(client=client, unique_id=["generated-1", "nobody"])
    assert listed == [made]
    # What came is what can be sent back, changed.
    change = models.DeviceInput.from_dict(made.to_dict())
    change.name = "Lorry"
    change.attributes["speedLimit"] = 48.5
    changed = api.devices.update_device.sync(made.id, client=client, body=change)
    assert (changed.name, changed.attributes["speedLimit"]) == ("Lorry", 48.5)
    assert api.devices.get_device.sync(made.id, client=client) == changed
    answer = api.devices.delete_device.sync_detailed(made.id, client=client)
    assert (answer.status_code, answer.content) == (204, b"")
    gone = api.devices.get_device.sync_detailed(made.id, client=client)
    assert (gone.status_code, gone.parsed) == (404, "no such device")


def test_geofences_links_and_commands(api, client):
    models = api.models
    area = "CIRCLE (52.5 13.3, 250)"
    fence = api.geofences.create_geofence.sync(
        client=client, body=models.GeofenceInput(name="Yard", area=area)
    )
    assert isinstance(fence, models.Geofence)
    assert (fence.area, fence.description, fence.calendar_id) == (area, None, 0)
    device = api.devices.create_device.sync(
        client=client, body=models.DeviceInput(name="Van", unique_id="generated-2")
    )
    # A link has no fields of its own, but a pair of ids by their names.
    link = {"deviceId": device.id, "geofenceId": fence.id}
    body = models.CreatePermissionBody.from_dict(link)
    answer = api.permissions.create_permission.sync_detailed(client=client, body=body)
    assert answer.status_code == 204
    (found,) = api.permissions.list_permissions.sync(client=client, device_id=device.id, geofence_id=0)
    assert found.to_dict() == link
    linked = api.geofences.list_geofences.sync(client=client, device_id=device.id, exclude_attributes=True)
    assert linked == [fence]
    refused = api.geofences.create_geofence.sync(
        client=client, body=models.GeofenceInput(name="Bad", area="SQUARE")
    )
    assert isinstance(refused, str)
    assert refused.startswith("area: ")
    # Sent now it is a Command, kept for later a QueuedCommand; this device is not there.
    queued = api.commands.send_command.sync(
        client=client, body=models.CommandBody(device_id=device.id, type_="custom")
    )
    assert isinstance(queued, models.QueuedCommand)


def test_a_bearer_token_and_the_login_form_open_the_api(api, client, generated, server):
    models = api.models
    form = models.CreateTokenBody(expiration=datetime(2100, 1, 1, tzinfo=UTC))
    token = api.session.create_token.sync(client=client, body=form)
    assert isinstance(token, str)
    with generated.AuthenticatedClient(f"{server.url}/api", token=token) as bearer:
        user = api.session.get_session.sync(client=bearer)
        assert (user.email, user.administrator, user.password) == (EMAIL, True, None)
    with generated.Client(f"{server.url}/api") as anonymous:
        login = models.CreateSessionBody(email=EMAIL, password=server.password)
        assert api.session.create_session.sync(client=anonymous, body=login) == user
        # From here on by the cookie.
        assert isinstance(api.server.get_server.sync(client=anonymous).storage_space, list)
        wrong = models.CreateSessionBody(email=EMAIL, password="wrong")
        refused = api.session.create_session.sync_detailed(client=anonymous, body=wrong)
        assert (refused.status_code, refused.parsed) == (401, "wrong e-mail or password")


def test_positions_are_typed_and_computed_attributes_come_as_text(api, client, server):
    models = api.models
    device = api.devices.create_device.sync(
        client=client, body=models.DeviceInput(name="Telephone", unique_id="generated-3")
    )
    place = {"id": "generated-3", "lat": 52.25, "lon": 13.5, "speed": 10, "timestamp": int(NOON.timestamp())}
    answer = httpx.post(f"http://{server.host}:{5055 + server.offset}/", params=place, timeout=10)
    assert answer.status_code == 200
    (latest,) = [
        position
        for position in api.positions.list_positions.sync(client=client)
        if position.device_id == device.id
    ]
    assert isinstance(latest, models.Position)
    assert (latest.latitude, latest.speed, latest.fix_time) == (52.25, 10, NOON)
    assert latest.geofence_ids is None
    span = {"device_id": device.id, "from_": NOON, "to": NOON}
    assert api.positions.list_positions.sync(client=client, **span) == [latest]
    assert api.positions.list_positions.sync(client=client, id=[latest.id]) == [latest]
    test = api.attributes.test_computed_attribute.sync
    expression = models.ComputedAttributeInput(attribute="x", expression="speed * 2", type_="Number")
    assert float(test(client=client, body=expression, device_id=device.id)) == 20
    expression = models.ComputedAttributeInput(attribute="x", expression="'fast'", type_="String")
    assert test(client=client, body=expression, device_id=device.id) == "fast"
