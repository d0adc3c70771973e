"""Parallel changes of a company's configuration have the outcome of the same ones in some order."""

from functools import partial
from random import Random

from tests.api.test_races import CONNECTIONS, connections, in_parallel

from motorpool.storage.errors import StatementRejected
from motorpool.storage.helpdesk import configuration_uses


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


class Hammer:
    """Random requests of one client; what it cannot know, such as what others have deleted, is refused."""

    def __init__(self, desk, client, seed, ids):
        self.desk = desk
        self.client = client
        self.random = Random(seed)
        self.ids = ids
        """Family -> ids made by anybody."""
        self.statuses = []

    async def run(self, steps):
        actions = (self.create, self.refer, self.refer, self.delete, self.join, self.leave, self.complete)
        for _ in range(steps):
            answer = await self.random.choice(actions)()
            self.statuses.append((answer.status, answer.text))

    def family(self):
        return self.random.choice(["ticketcategories", "ticketpriorities", "ticketstatuses", "teams"])

    def some(self, family):
        return self.random.choice(self.ids[family])

    def body(self, family):
        """A record that refers to others."""
        attributes = {
            "ticketpriorities": {
                "escalatePriorityId": self.some("ticketpriorities"),
                "escalateTeamId": self.some("teams"),
            },
            "ticketstatuses": {"next": [self.some("ticketstatuses") for _ in range(3)]},
        }
        return {
            "companyId": self.desk.id,
            "name": "x",
            "level": 1,
            "kind": "open",
            "parentId": self.some("ticketcategories") if family == "ticketcategories" else 0,
            "attributes": attributes.get(family, {}),
        }

    async def create(self):
        family = self.family()
        answer = await self.client.post(f"/{family}", json={**self.body(family), "attributes": {}})
        if answer.status == 200:
            self.ids[family].append(answer.json()["id"])
        return answer

    async def refer(self):
        family = self.family()
        return await self.client.put(f"/{family}/{self.some(family)}", json=self.body(family))

    async def delete(self):
        family = self.family()
        return await self.client.delete(f"/{family}/{self.some(family)}")

    async def join(self):
        return await self.client.put(f"/teams/{self.some('teams')}/members/{self.desk.ann.id}")

    async def leave(self):
        link = {"userId": self.desk.ann.id, "companyId": self.desk.id}
        return await self.client.delete("/permissions", json=link)

    async def complete(self):
        return await self.client.post(f"/tickets/defaults?companyId={self.desk.id}")


async def test_whatever_eight_connections_do_the_configuration_stays_whole(desk):
    families = ["ticketcategories", "ticketpriorities", "ticketstatuses", "teams"]
    new = {"name": "x", "level": 1, "kind": "open"}
    ids = {family: [(await desk.make(family, **new))["id"] for _ in range(3)] for family in families}
    # Administrators reach all of it, also what managers of the company only do with users of their own.
    clients = await connections(desk.served)
    hammers = [Hammer(desk, client, seed, ids) for seed, client in enumerate(clients)]
    await in_parallel(*(partial(hammer.run, 20) for hammer in hammers))
    answers = [answer for hammer in hammers for answer in hammer.statuses]
    assert {status for status, _ in answers} <= {200, 204, 400, 404}, answers
    rows = {
        family: {each["id"]: each for each in (await desk.chief.get(f"/{family}")).json()}
        for family in families
    }
    above = {number: each["parentId"] for number, each in rows["ticketcategories"].items()}
    escalates = {
        number: each["attributes"].get("escalatePriorityId", 0)
        for number, each in rows["ticketpriorities"].items()
    }
    for chains in (above, escalates):
        assert set(chains.values()) - {0} <= set(chains)
        for number in chains:
            chain_from(number, chains)
    for each in rows["ticketpriorities"].values():
        assert each["attributes"].get("escalateTeamId", 0) in {0, *rows["teams"]}
    for number, each in rows["ticketstatuses"].items():
        following = each["attributes"].get("next", [])
        assert set(following) <= set(rows["ticketstatuses"]) - {number}
    standard = [each["name"] for each in rows["ticketcategories"].values() if each["name"] != "x"]
    assert len(standard) == len(set(standard))
    outside = await desk.database.fetch_value(
        "select count(*) from user_team m join teams t on t.id = m.team_id where not exists"
        " (select from user_company l where l.user_id = m.user_id and l.company_id = t.company_id)"
    )
    assert outside == 0
