"""Companies: who sees and edits them, their secrets, and their end."""

from dataclasses import replace

import trio

from motorpool.actors.helpdesk.settings import TicketSettings

URL = "https://hooks.example.org/tickets"


async def test_who_creates_a_company_is_linked_to_it_as_its_manager(served):
    ann = await served.user("ann")
    made = await ann.post("/companies", json={"name": " North ", "uniqueId": "N-1"})
    assert made.status == 200
    assert made.json() == {
        "id": made.json()["id"],
        "name": "North",
        "uniqueId": "N-1",
        "disabled": False,
        "attributes": {},
    }
    path = f"/companies/{made.json()['id']}"
    assert (await ann.get("/companies")).json() == [made.json()]
    assert (await ann.put(path, json={**made.json(), "name": "South"})).json()["name"] == "South"
    assert (await ann.delete(path)).status == 204
    assert (await ann.get(path)).status == 404


async def test_linked_users_read_a_company_and_strangers_do_not(desk):
    path = f"/companies/{desk.id}"
    body = (await desk.ann.get(path)).json()
    for call in (desk.ann.put(path, json=body), desk.ann.delete(path)):
        answer = await call
        assert (answer.status, answer.text) == (400, "only managers of the company may do this")
    for call in (desk.stranger.get(path), desk.stranger.put(path, json=body), desk.stranger.delete(path)):
        answer = await call
        assert (answer.status, answer.text) == (400, "no access to the company")
    unknown = "/companies/4711"
    for call in (desk.stranger.get(unknown), desk.stranger.put(unknown, json={**body, "id": 4711})):
        assert (await call).status == 404
    assert (await desk.stranger.get("/companies")).json() == []


async def test_a_linked_user_who_manages_users_is_a_manager_of_the_company(desk):
    path = f"/companies/{desk.id}"
    boss = await desk.served.user("boss", userLimit=-1)
    assert (await desk.link(desk.served.admin, userId=boss.id, companyId=desk.id)).status == 204
    assert (await boss.put(path, json={"name": "South"})).status == 200


async def test_read_only_and_temporary_users_create_no_company(served):
    reader = await served.user("reader", readonly=True)
    assert (await reader.post("/companies", json={"name": "x"})).text == "the user is read-only"
    number = await served.device(served.admin, "1")
    form = {"deviceId": str(number), "expiration": "2026-06-01T00:00:00Z"}
    token = (await served.admin.post("/share/device", form=form)).text
    guest = served.client({"Authorization": f"Bearer {token}"})
    assert (await guest.post("/companies", json={"name": "x"})).text == "the user is read-only"


async def test_the_list_of_companies_is_sorted_and_filtered(served):
    ann = await served.user("ann")
    for name, unique_id, roles in [
        ("beta", "B-1", ["Customer", "carrier"]),
        ("Alpha", "A-1", "supplier, CUSTOMER"),
        ("gamma", "", None),
        ("delta", "", "customers"),
    ]:
        body = {"name": name, "uniqueId": unique_id, "attributes": {} if roles is None else {"roles": roles}}
        assert (await ann.post("/companies", json=body)).status == 200

    async def names(query):
        return [each["name"] for each in (await ann.get(f"/companies?{query}")).json()]

    assert await names("") == ["Alpha", "beta", "delta", "gamma"]
    assert await names("role=customer") == ["Alpha", "beta"]
    assert await names("role=CARRIER") == ["beta"]
    assert await names("keyword=a-1") == ["Alpha"]
    assert await names("uniqueId=B-1") == ["beta"]
    assert await names("limit=2&offset=1") == ["beta", "delta"]
    found = (await ann.get("/companies?excludeAttributes=true")).json()
    assert [each["attributes"] for each in found] == [{}] * 4
    found = (await ann.get("/companies?excludeAttributes=true&role=carrier")).json()
    assert found[0]["attributes"] == {"roles": ["Customer", "carrier"]}


async def test_a_unique_id_is_taken_once(served):
    first = await served.admin.post("/companies", json={"name": "a", "uniqueId": "1"})
    second = await served.admin.post("/companies", json={"name": "b", "uniqueId": "1"})
    assert (first.status, second.status, second.text) == (200, 400, "uniqueId is taken already")
    for name in ("c", "d"):
        assert (await served.admin.post("/companies", json={"name": name})).status == 200


async def test_what_the_server_reads_of_the_attributes_is_checked(served):
    for attributes, text in [
        ({"timezone": "Mars/Olympus"}, "attributes.timezone: not a known time zone"),
        ({"reopenDays": -1}, "attributes.reopenDays: not a whole number from 0 to 3650"),
        ({"autoCloseDays": True}, "attributes.autoCloseDays: not a whole number from 0 to 3650"),
        ({"roles": [1]}, "attributes.roles: neither a list of texts nor a text"),
        ({"ticketWebhook": {"url": "ftp://example.org/"}}, "attributes.ticketWebhook.url: "),
        ({"ticketWebhook": "x"}, "attributes.ticketWebhook: not an object"),
    ]:
        answer = await served.admin.post("/companies", json={"name": "x", "attributes": attributes})
        assert answer.status == 400
        assert answer.text.startswith(text)


async def test_only_managers_and_administrators_see_the_secret_of_the_webhook(desk):
    path = f"/companies/{desk.id}"
    body = {"name": "North", "attributes": {"ticketWebhook": {"url": URL}}}
    made = (await desk.chief.put(path, json=body)).json()
    secret = made["attributes"]["ticketWebhook"]["secret"]
    assert secret.startswith("whsec_")

    async def seen(client):
        found = [(await client.get(path)).json(), *(await client.get("/companies?all=true")).json()]
        (shown,) = {each["attributes"]["ticketWebhook"]["secret"] for each in found if each["id"] == desk.id}
        return shown

    assert await seen(desk.chief) == secret
    assert await seen(desk.served.admin) == secret
    assert await seen(desk.ann) == "********"
    # A client that knows the mask alone does not change it, nor one that leaves it out.
    for sent in ({"url": URL, "secret": "********"}, {"url": f"{URL}/2"}):
        answer = await desk.chief.put(path, json={"name": "North", "attributes": {"ticketWebhook": sent}})
        assert answer.json()["attributes"]["ticketWebhook"]["secret"] == secret
    other = {"url": URL, "secret": "another-plain-secret"}
    changed = await desk.chief.put(path, json={"name": "North", "attributes": {"ticketWebhook": other}})
    assert changed.json()["attributes"]["ticketWebhook"]["previousSecret"] == secret
    masked = (await desk.ann.get(path)).json()["attributes"]["ticketWebhook"]
    assert masked["secret"] == masked["previousSecret"] == "********"
    rows = await desk.database.fetch("select attributes from audit where object_type = 'company'")
    assert not any("secret" in str(row[0]).lower() for row in rows)


async def test_a_manager_who_has_become_read_only_sees_no_secret_and_changes_nothing(desk):
    path = f"/companies/{desk.id}"
    await desk.chief.put(path, json={"name": "North", "attributes": {"ticketWebhook": {"url": URL}}})
    body = (await desk.served.admin.get(f"/users/{desk.chief.id}")).json()
    assert (
        await desk.served.admin.put(f"/users/{desk.chief.id}", json={**body, "readonly": True})
    ).status == 200
    assert (await desk.chief.get(path)).json()["attributes"]["ticketWebhook"]["secret"] == "********"
    assert (await desk.chief.put(path, json={"name": "x"})).status == 400


async def test_a_company_takes_with_it_all_that_belongs_to_it(desk):
    branch = await desk.make("branches", name="Leeds")
    await desk.make("contacts", name="Carla", branchId=branch["id"])
    team = await desk.make("teams", name="Workshop")
    assert (await desk.served.admin.put(f"/teams/{team['id']}/members/{desk.ann.id}")).status == 204
    made = (await desk.chief.post(f"/tickets/defaults?companyId={desk.id}")).json()
    ticket = await desk.ticket(made["statuses"][0]["id"], team_id=team["id"], branch_id=branch["id"])
    sql = (
        "insert into ticket_events (company_id, ticket_id, event_time, created_at, type, actor, version)"
        " values ($1, $2, now(), now(), 'created', 'user', 1)"
    )
    await desk.database.execute(sql, desk.id, ticket)
    other = (await desk.stranger.post("/companies", json={"name": "Other"})).json()["id"]
    kept = (await desk.stranger.post(f"/tickets/defaults?companyId={other}")).json()
    assert (await desk.chief.delete(f"/companies/{desk.id}")).status == 204
    left = {
        "companies": 1,
        "user_company": 1,
        **{f"ticket_{name}": len(kept[name]) for name in kept},
        **dict.fromkeys(("branches", "contacts", "teams", "user_team", "tickets", "ticket_events"), 0),
    }
    for table, expected in left.items():
        count = await desk.database.fetch_value(f"select count(*) from {table}")
        assert count == expected, table


async def test_the_audit_log_says_what_was_promised_before_and_after(desk):
    path = f"/companies/{desk.id}"
    body = {"name": "North", "attributes": {"timezone": "Europe/Berlin", "note": "x"}}
    assert (await desk.chief.put(path, json=body)).status == 200
    priority = await desk.make("ticketpriorities", name="High", level=2, resolutionMinutes=60)
    changed = {**priority, "resolutionMinutes": 90, "attributes": {"warnPercent": 80}}
    await desk.chief.put(f"/ticketpriorities/{priority['id']}", json=changed)
    assert (await desk.chief.delete(f"/ticketpriorities/{priority['id']}")).status == 204
    rows = await desk.database.fetch(
        "select action_type, object_type, attributes from audit"
        " where object_type in ('company', 'ticketPriority') order by id"
    )
    assert [tuple(row.values()) for row in rows] == [
        ("create", "company", {"name": {"after": "North"}}),
        ("link", "company", {"ownerType": "user", "ownerId": desk.ann.id}),
        ("edit", "company", {"attributes.timezone": {"after": "Europe/Berlin"}}),
        ("create", "ticketPriority", {"level": {"after": 2}, "resolutionMinutes": {"after": 60}}),
        (
            "edit",
            "ticketPriority",
            {
                "resolutionMinutes": {"before": 60, "after": 90},
                "attributes.warnPercent": {"after": 80},
            },
        ),
        (
            "remove",
            "ticketPriority",
            {
                "level": {"before": 2},
                "resolutionMinutes": {"before": 90},
                "attributes.warnPercent": {"before": 80},
            },
        ),
    ]


async def test_a_user_creates_so_many_companies_and_administrators_any_number(desk, served):
    served.context.live.settings = replace(
        served.context.settings, tickets=TicketSettings(companies_per_user=3)
    )
    answers = []

    async def create(name):
        answers.append(await desk.chief.post("/companies", json={"name": name}))

    async with trio.open_nursery() as nursery:
        for name in "abcde":
            nursery.start_soon(create, name)
    refused = [answer for answer in answers if answer.status != 200]
    assert [(answer.status, answer.text) for answer in refused] == [
        (400, "you have created 3 companies, which are the most a user may have")
    ] * 3
    # To leave a company makes no room, to delete it does.
    boss = await served.user("boss", userLimit=1)
    assert (await desk.link(served.admin, userId=boss.id, companyId=desk.id)).status == 204
    link = {"userId": desk.chief.id, "companyId": desk.id}
    assert (await desk.chief.delete("/permissions", json=link)).status == 204
    assert (await desk.chief.post("/companies", json={"name": "f"})).status == 400
    made = next(answer.json()["id"] for answer in answers if answer.status == 200)
    assert (await desk.chief.delete(f"/companies/{made}")).status == 204
    assert (await desk.chief.post("/companies", json={"name": "g"})).status == 200
    assert (await desk.chief.post("/companies", json={"name": "h"})).status == 400
    for _ in range(4):
        assert (await served.admin.post("/companies", json={"name": "i"})).status == 200


async def test_agents_see_who_is_linked_to_a_company_and_others_only_themselves(desk):
    path = f"/companies/{desk.id}/users"
    boss = await desk.served.user("boss", userLimit=-1)
    assert (await desk.link(desk.served.admin, userId=boss.id, companyId=desk.id)).status == 204
    team = (await boss.post("/teams", json={"companyId": desk.id, "name": "First line"})).json()
    assert (await desk.served.admin.put(f"/teams/{team['id']}/members/{boss.id}")).status == 204
    found = {row["name"]: row for row in (await boss.get(path)).json()}
    assert found["boss"] == {
        "id": boss.id,
        "name": "boss",
        "email": found["boss"]["email"],
        "teamIds": [team["id"]],
        "agent": True,
        "manager": True,
        "disabled": False,
    }
    # The team has a member now, so that Ann, who is in none, is no agent.
    assert (found["ann"]["agent"], found["ann"]["manager"], found["ann"]["teamIds"]) == (False, False, [])
    assert [row["name"] for row in (await desk.ann.get(path)).json()] == ["ann"]
    assert [row["name"] for row in (await desk.served.admin.get(path)).json()] == list(found)
    assert (await desk.stranger.get(path)).status == 400
