"""Devices as CSV files: export, and import with a trial run."""

import csv
import io

import trio

from motorpool.api.resources import device_tables
from motorpool.storage.devices import devices


async def sent(client, text, **query):
    return await client.post(
        "/devices/import", data=text.encode(), headers={"Content-Type": "text/csv"}, query_string=query
    )


async def names(client):
    return {each["uniqueId"]: each["name"] for each in (await client.get("/devices")).json()}


async def test_a_trial_run_tells_what_would_become_of_each_row_and_stores_nothing(served):
    await served.device(served.admin, "1", name="Old", attributes={"color": "red"})
    await served.device(served.admin, "2", name="Same")
    text = "name,uniqueId,attributes.color\nNew,1,blue\nSame,2,\nAdded,3,green\n,4,\nTwice,3,\n"
    tried = await sent(served.admin, text, dryRun="true")
    assert tried.status == 200, tried.text
    result = tried.json()
    assert [each["outcome"] for each in result["rows"]] == [
        "updated",
        "unchanged",
        "created",
        "faulty",
        "faulty",
    ]
    assert [each["row"] for each in result["rows"]] == [2, 3, 4, 5, 6]
    assert result["rows"][3]["faults"] == [{"column": "name", "text": "needed"}]
    assert result["rows"][4]["faults"] == [{"column": "uniqueId", "text": "is the one of row 4 as well"}]
    assert (result["stored"], result["created"], result["updated"], result["faulty"]) == (False, 1, 1, 2)
    assert result["rows"][2]["deviceId"] == 0
    assert await names(served.admin) == {"1": "Old", "2": "Same"}


async def test_all_rows_are_stored_or_none_unless_faulty_ones_may_be_left_out(served):
    text = "name,uniqueId\nVan,1\n,2\n"
    refused = (await sent(served.admin, text)).json()
    assert (refused["stored"], await names(served.admin)) == (False, {})
    taken = (await sent(served.admin, text, skipFaulty="true")).json()
    assert (taken["stored"], taken["created"], taken["faulty"]) == (True, 1, 1)
    assert await names(served.admin) == {"1": "Van"}
    device = (await served.admin.get(f"/devices/{taken['rows'][0]['deviceId']}")).json()
    assert device["name"] == "Van"


async def test_a_change_keeps_what_has_no_column_and_is_seen_at_once(served):
    number = await served.device(served.admin, "1", phone="7", attributes={"a": 1, "b": "x"})
    group = (await served.admin.post("/groups", json={"name": "North"})).json()["id"]
    stored = await sent(served.admin, "uniqueId;group;attributes.a\n1;North;\n")
    assert stored.json()["updated"] == 1, stored.text
    device = (await served.admin.get(f"/devices/{number}")).json()
    assert (device["groupId"], device["phone"], device["attributes"]) == (group, "7", {"b": "x"})


async def test_devices_and_groups_of_others_are_neither_changed_nor_told(served):
    await served.device(served.admin, "1", name="Secret van")
    await served.admin.post("/groups", json={"name": "Hidden"})
    user = await served.user("bob", deviceLimit=-1)
    result = (await sent(user, "name,uniqueId,group\nMine,1,\nOther,2,Hidden\n", skipFaulty="true")).json()
    assert [each["faults"][0]["column"] for each in result["rows"]] == ["uniqueId", "group"]
    assert result["rows"][0] == {
        "row": 2,
        "uniqueId": "1",
        "name": "Mine",
        "outcome": "faulty",
        "deviceId": 0,
        "faults": result["rows"][0]["faults"],
    }
    assert "Secret" not in str(result)
    assert await names(served.admin) == {"1": "Secret van"}


async def test_the_limit_of_devices_holds_for_files(served):
    user = await served.user("bob", deviceLimit=2)
    result = (await sent(user, "name,uniqueId\na,1\nb,2\nc,3\n", dryRun="true")).json()
    assert [each["outcome"] for each in result["rows"]] == ["created", "created", "faulty"]
    assert "limit of devices is reached" in result["rows"][2]["faults"][0]["text"]
    await sent(user, "name,uniqueId\na,1\nb,2\nc,3\n", skipFaulty="true")
    assert await names(user) == {"1": "a", "2": "b"}


async def test_an_import_leaves_the_limits_of_managers_to_others_until_its_end(served, monkeypatch):
    """Another user below the manager adds one meanwhile and does not wait; in the end there is less room."""
    boss = await served.user("boss", userLimit=-1, deviceLimit=3)
    user, other = [await served.user(name, deviceLimit=-1) for name in ("bob", "ann")]
    for managed in (user, other):
        link = {"userId": boss.id, "managedUserId": managed.id}
        assert (await served.admin.post("/permissions", json=link)).status == 204
    store, added = device_tables._store, []

    async def store_slowly(call, transaction, row, *args):
        stored = await store(call, transaction, row, *args)
        if row.cells["uniqueId"] == "3" and not added:
            added.append(await other.post("/devices", json={"name": "x", "uniqueId": "x"}))
        return stored

    monkeypatch.setattr(device_tables, "_store", store_slowly)
    result = (await sent(user, "name,uniqueId\na,1\nb,2\nc,3\n", skipFaulty="true")).json()
    assert [answer.status for answer in added] == [200], added[0].text
    assert [each["outcome"] for each in result["rows"]] == ["created", "created", "faulty"]
    assert "the limit of a manager" in result["rows"][2]["faults"][0]["text"]
    assert await names(user) == {"1": "a", "2": "b"}


async def test_devices_that_there_are_already_can_be_changed_beyond_the_limit(served):
    user = await served.user("bob", deviceLimit=1)
    for number in (1, 2):
        device = await served.device(served.admin, f"{number}")
        await served.admin.post("/permissions", json={"userId": user.id, "deviceId": device})
    result = (await sent(user, "name,uniqueId\na,1\nb,2\nc,3\n", skipFaulty="true")).json()
    assert [each["outcome"] for each in result["rows"]] == ["updated", "updated", "faulty"]


async def test_a_guess_of_a_secret_is_neither_confirmed_nor_denied(served):
    await served.device(served.admin, "1", attributes={"device.secret": "s3cret-of-van"})
    for guess in ("s3cret-of-van", "another-secret", '"s3cret-of-van"'):
        text = f"uniqueId;attributes.device.secret\n1;{guess}\n"
        result = (await sent(served.admin, text, dryRun="true")).json()
        assert result["rows"][0]["outcome"] == "updated", guess


async def test_who_may_not_change_devices_imports_none(served):
    for fields in ({"readonly": True}, {"deviceReadonly": True}):
        user = await served.user(next(iter(fields)), deviceLimit=-1, **fields)
        assert (await sent(user, "name,uniqueId\na,1\n")).status == 400


async def test_a_number_that_differs_in_leading_zeros_is_a_fault_of_its_row(served):
    await served.device(served.admin, "013912345678")
    result = (await sent(served.admin, "name,uniqueId\nx,13912345678\ny,5\n", skipFaulty="true")).json()
    assert [each["outcome"] for each in result["rows"]] == ["faulty", "created"]


async def test_what_no_table_is_answers_with_one_sentence(served):
    refused = await sent(served.admin, "colour\nred\n")
    assert (refused.status, "uniqueId" in refused.text) == (400, True)


async def test_an_export_has_all_devices_without_secrets_and_can_be_imported_unchanged(served):
    await served.admin.post("/groups", json={"name": "=North"})
    group = (await served.admin.get("/groups")).json()[0]["id"]
    await served.device(
        served.admin,
        "1",
        name="-1+1",
        groupId=group,
        attributes={"a": "12", "device.secret": "s3cret-of-van"},
    )
    await served.device(served.admin, "2", attributes={"b": {"c": [1]}})
    answer = await served.admin.get("/devices/csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert 'filename="devices.csv"' in answer.headers["Content-Disposition"]
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert (rows[0]["name"], rows[0]["group"], rows[0]["attributes.a"]) == ("'-1+1", "'=North", '"12"')
    assert rows[1]["attributes.b"] == '{"c":[1]}'
    assert "s3cret" not in answer.text
    result = (await sent(served.admin, answer.text)).json()
    assert (result["unchanged"], result["updated"], result["created"]) == (2, 0, 0), result
    user = await served.user("bob")
    assert list(csv.DictReader(io.StringIO((await user.get("/devices/csv")).text))) == []


async def test_each_row_is_audited(served):
    await sent(served.admin, "name,uniqueId\na,1\nb,2\n")
    rows = (
        await served.admin.get(
            "/audit", query_string={"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
        )
    ).json()
    made = [each for each in rows if each["actionType"] == "create" and each["objectType"] == "device"]
    assert [each["attributes"]["import"] for each in made] == [True, True]


async def test_an_import_waits_for_no_device_of_others(served):
    await served.device(served.admin, "1")
    user = await served.user("bob", deviceLimit=-1)
    with trio.fail_after(20):
        async with served.context.database.transaction() as transaction:
            await devices.lock_by_unique_ids(transaction, ["1"])
            result = (await sent(user, "name,uniqueId\nMine,1\nNew,2\n", skipFaulty="true")).json()
    assert [each["outcome"] for each in result["rows"]] == ["faulty", "created"]


async def test_values_of_attributes_are_bounded_as_those_of_bodies(served):
    nested = "[" * 31 + "]" * 31
    for value in (nested, '"\\u0000"', '{"a\\u0000": 1}'):
        quoted = value.replace('"', '""')
        (row,) = (await sent(served.admin, f'name,uniqueId,attributes.x\nVan,1,"{quoted}"\n')).json()["rows"]
        assert [each["column"] for each in row["faults"]] == ["attributes.x"], value
    (row,) = (await sent(served.admin, f"name,uniqueId,attributes.x\nVan,1,{nested[1:-1]}\n")).json()["rows"]
    device = (await served.admin.get(f"/devices/{row['deviceId']}")).json()
    assert (await served.admin.put(f"/devices/{row['deviceId']}", json=device)).status == 200
