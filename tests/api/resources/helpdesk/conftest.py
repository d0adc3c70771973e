"""Companies for tests of what they configure."""

from dataclasses import dataclass
from typing import Any

import pytest


@dataclass
class Helpdesk:
    """A company, its manager, a user who is linked to it and nothing more, and a stranger."""

    served: Any
    database: Any
    id: int
    chief: Any
    ann: Any
    stranger: Any

    async def make(self, path: str, who: Any = None, **fields: Any) -> Any:
        """Create a record of the company; return it as it is answered."""
        answer = await (who or self.chief).post(f"/{path}", json={"companyId": self.id, **fields})
        assert answer.status == 200, answer.text
        return answer.json()

    async def link(self, client: Any, **link: int) -> Any:
        return await client.post("/permissions", json=link)

    async def ticket(self, status_id: int, kind: str = "new", **columns: Any) -> int:
        """Store a ticket."""
        sql = """
            with counted as (
                update companies set last_ticket_number = last_ticket_number + 1 where id = $1
                returning last_ticket_number
            )
            insert into tickets (
                company_id, number, status_id, status_kind, subject, created_at, updated_at,
                status_changed_at
            )
            select $1, last_ticket_number, $2, $3, 'Broken', $4, $4, $4 from counted returning id
        """
        now = self.served.clock.now()
        number = await self.database.fetch_value(sql, self.id, status_id, kind, now)
        for name, value in columns.items():
            await self.database.execute(f"update tickets set {name} = $2 where id = $1", number, value)
        return int(number)


@pytest.fixture
async def desk(served: Any, database: Any) -> Helpdesk:
    chief = await served.user("chief")
    ann = await served.user("ann")
    stranger = await served.user("stranger")
    made = await chief.post("/companies", json={"name": "North"})
    assert made.status == 200, made.text
    found = Helpdesk(served, database, made.json()["id"], chief, ann, stranger)
    answer = await found.link(served.admin, userId=ann.id, companyId=found.id)
    assert answer.status == 204, answer.text
    return found
