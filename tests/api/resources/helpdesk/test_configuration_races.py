"""Parallel changes of a company's configuration have the outcome of the same ones in some order."""

from functools import partial

from tests.api.test_races import CONNECTIONS, connections, in_parallel

from motorpool.storage import configuration_uses
from motorpool.storage.errors import StatementRejected


async def clients_of(desk):
    return await connections(desk.served, "chief@example.org", "chief")


def chain_from(start, above):
    found = [start]
    while above.get(found[-1]):
        found.append(above[found[-1]])
        assert len(found) == len(set(found)), above
    return found


async def test_parallel_moves_of_categories_make_no_cycle(desk):
    clients = await clients_of(desk)
    made = [await desk.make("ticketcategories", name=f"{number}") for number in range(CONNECTIONS)]
    for shift in (1, 3, 5):
        parents = [*made[shift:], *made[:shift]]
        answers = await in_parallel(
            *(
                partial(
                    client.put,
                    f"/ticketcategories/{each['id']}",
                    json={**each, "parentId": parent["id"]},
                )
                for client, each, parent in zip(clients, made, parents, strict=True)
            )
        )
        refused = {answer.text for answer in answers if answer.status != 200}
        assert refused == {"parentId: the category would lie below itself"}
        above = {each["id"]: each["parentId"] for each in (await desk.chief.get("/ticketcategories")).json()}
        for each in made:
            chain_from(each["id"], above)


async def test_parallel_changes_of_priorities_make_no_circle_of_escalation(desk):
    clients = await clients_of(desk)
    made = [await desk.make("ticketpriorities", name=f"{number}", level=1) for number in range(CONNECTIONS)]
    targets = [*made[1:], made[0]]
    answers = await in_parallel(
        *(
            partial(
                client.put,
                f"/ticketpriorities/{each['id']}",
                json={**each, "attributes": {"escalatePriorityId": target["id"]}},
            )
            for client, each, target in zip(clients, made, targets, strict=True)
        )
    )
    assert sorted(answer.status for answer in answers) == [200] * 7 + [400]
    rows = (await desk.chief.get("/ticketpriorities")).json()
    above = {each["id"]: each["attributes"].get("escalatePriorityId", 0) for each in rows}
    for each in made:
        chain_from(each["id"], above)


async def test_no_status_leads_to_one_that_was_deleted_meanwhile(desk):
    clients = await clients_of(desk)
    made = [await desk.make("ticketstatuses", name=f"{number}", kind="open") for number in range(8)]
    ids = [each["id"] for each in made]
    half = CONNECTIONS // 2
    answers = await in_parallel(
        *(
            partial(client.put, f"/ticketstatuses/{each['id']}", json={**each, "attributes": {"next": ids}})
            for client, each in zip(clients[:half], made[:half], strict=True)
        ),
        *(
            partial(client.delete, f"/ticketstatuses/{each['id']}")
            for client, each in zip(clients[half:], made[half:], strict=True)
        ),
    )
    assert {answer.status for answer in answers[half:]} == {204}
    assert {answer.status for answer in answers[:half]} <= {200, 400}
    rows = (await desk.chief.get("/ticketstatuses")).json()
    left = {each["id"] for each in rows}
    assert left == set(ids[:half])
    for each in rows:
        assert set(each["attributes"].get("next", ())) <= left


async def test_a_ticket_and_its_status_have_one_kind_whoever_comes_first(desk):
    """The kind of a status is changed while tickets move into it."""
    start = await desk.make("ticketstatuses", name="start", kind="new")
    for _ in range(4):
        target = await desk.make("ticketstatuses", name="target", kind="open")
        ticket = await desk.ticket(start["id"])

        async def move(ticket=ticket, target=target):
            sql = "update tickets set status_id = $2, status_kind = 'open' where id = $1"
            try:
                await desk.database.execute(sql, ticket, target["id"])
            except StatementRejected as error:
                return str(error)
            return ""

        changed = {**target, "kind": "pending"}
        refused, answer = await in_parallel(
            move, partial(desk.chief.put, f"/ticketstatuses/{target['id']}", json=changed)
        )
        assert bool(refused) == (answer.status == 200)
        used = await configuration_uses.count(desk.database, "status_id", desk.id, target["id"])
        assert used == (answer.status == 400)


async def test_a_company_that_is_deleted_gets_nothing_more(desk):
    clients = await clients_of(desk)
    new = {"companyId": desk.id, "name": "x", "level": 1, "kind": "new"}
    families = ["branches", "teams", "contacts", "ticketcategories", "ticketpriorities", "ticketstatuses"]
    answers = await in_parallel(
        *(
            partial(client.post, f"/{family}", json=new)
            for client, family in zip(clients, families, strict=False)
        ),
        partial(clients[6].delete, f"/companies/{desk.id}"),
        partial(clients[7].post, f"/tickets/defaults?companyId={desk.id}"),
    )
    assert answers[6].status == 204
    assert {answer.status for answer in answers[:6]} <= {200, 400}
    for family in families:
        assert (await desk.served.admin.get(f"/{family}?all=true")).json() == []
    assert await desk.database.fetch_value("select count(*) from companies") == 0
