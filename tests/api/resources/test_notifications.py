from tests.api.cases import on_one_server

# Written out.
TYPES = {
    "commandResult", "deviceOnline", "deviceUnknown", "deviceOffline", "deviceInactive", "queuedCommandSent",
    "queuedCommandFailed", "deviceLoginRefused",
    "deviceMoving", "deviceStopped", "deviceOverspeed", "deviceFuelDrop", "deviceFuelIncrease",
    "geofenceEnter", "geofenceExit", "geofenceCrossed", "proximityEnter", "proximityExit",
    "unaccompaniedMotion", "alarm", "ignitionOn", "ignitionOff", "maintenance", "driverChanged",
    "driverHoursWarning", "driverHoursExceeded", "media", "sensorOutOfRange", "sensorInRange",
}  # fmt: skip


async def test_a_severity_is_one_of_three(served):
    for value, status in (("CRITICAL", 200), (None, 200), ("SEVERE", 400), (1, 400)):
        body = {"type": "alarm", "notificators": "web", "attributes": {"severity": value}}
        answer = await served.admin.post("/notifications", json=body)
        assert answer.status == status, answer.text


async def test_there_are_29_types_and_each_can_be_notified_of(served):
    listed = (await served.admin.get("/notifications/types")).json()
    assert len(listed) == 29
    assert {entry["type"] for entry in listed} == TYPES
    assert all(set(entry) == {"type"} for entry in listed)
    for name in TYPES:
        assert (await served.admin.post("/notifications", json={"type": name})).status == 200, name


async def shown(client, number):
    entry = (await client.get(f"/notifications/{number}")).json()
    switches = {name for name in ("web", "mail", "sms") if entry[name]}
    assert switches == {name for name in entry["notificators"].split(",") if name in {"web", "mail", "sms"}}
    return entry["notificators"]


@on_one_server(
    ("sent", "expected"),
    [
        ({}, ""),
        ({"notificators": "web,mail"}, "web,mail"),
        ({"notificators": " web , mail,web,"}, "web,mail"),
        ({"notificators": "telegram,web"}, "telegram,web"),
        ({"web": True, "sms": True}, "web,sms"),
        ({"web": True, "mail": False, "sms": False}, "web"),
        ({"web": True, "notificators": None}, "web"),
        ({"notificators": "web", "mail": True}, "web,mail"),
        ({"notificators": "web", "web": False, "mail": False, "sms": False}, "web"),
    ],
)
async def test_a_new_one_goes_by_what_either_way_of_saying_it_names(served, sent, expected):
    made = await served.admin.post("/notifications", json={"type": "alarm", **sent})
    assert made.status == 200, made.text
    assert made.json()["notificators"] == expected
    assert await shown(served.admin, made.json()["id"]) == expected


@on_one_server(
    ("changed", "expected"),
    [
        # The web client writes the list and sends the switches back as it got them.
        ({"notificators": "web,sms"}, "web,sms"),
        ({"notificators": ""}, ""),
        ({"notificators": "telegram"}, "telegram"),
        # A client of the specification writes the switches and sends the list back as it got it.
        ({"mail": False}, "web,telegram"),
        ({"sms": True}, "web,mail,telegram,sms"),
        ({"web": False, "mail": False, "sms": True}, "telegram,sms"),
        # Both at once.
        ({"notificators": "web,mail", "sms": True}, "web,mail,sms"),
        ({"notificators": "sms", "sms": True}, "sms"),
        ({}, "web,mail,telegram"),
    ],
)
async def test_of_an_echoed_one_what_was_changed_counts(served, changed, expected):
    body = {"type": "alarm", "notificators": "web,mail,telegram"}
    made = (await served.admin.post("/notifications", json=body)).json()
    put = await served.admin.put(f"/notifications/{made['id']}", json={**made, **changed})
    assert put.status == 200, put.text
    assert put.json()["notificators"] == expected
    assert await shown(served.admin, made["id"]) == expected


@on_one_server(
    ("body", "expected"),
    [
        ({"notificators": "sms"}, "sms"),
        ({"web": True}, "web"),
        ({"web": True, "mail": True, "sms": False}, "web,mail"),
        ({}, ""),
    ],
)
async def test_a_body_that_knows_one_way_only_replaces_by_it(served, body, expected):
    first = {"type": "alarm", "notificators": "web,mail,telegram"}
    number = (await served.admin.post("/notifications", json=first)).json()["id"]
    put = await served.admin.put(f"/notifications/{number}", json={"type": "alarm", **body})
    assert put.status == 200, put.text
    assert await shown(served.admin, number) == expected
