"""Requests that configure the demonstration; what exists under its name is left as it is."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx

from motorpool.bench.target import Account, request

Row = dict[str, Any]


class Api:
    """The API with one login."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client

    async def row(self, path: str) -> Row:
        """Read one."""
        row: Row = (await request(self._client, "GET", path)).json()
        return row

    async def rows(self, path: str, **query: str) -> list[Row]:
        """Read a list."""
        rows: list[Row] = (await request(self._client, "GET", path, params=query)).json()
        return rows

    async def post(self, path: str, body: object = None, **query: str) -> Row:
        """Create or order; the answer, without keys if it is empty."""
        answer = await request(self._client, "POST", path, params=query, json=body)
        row: Row = answer.json() if answer.content else {}
        return row

    async def put(self, path: str, body: Row) -> None:
        """Replace."""
        await request(self._client, "PUT", path, json=body)

    async def ensure(self, path: str, body: Row, *, key: str = "name", **query: str) -> Row:
        """Return the row with the same `key` as the body, created if there is none."""
        for row in await self.rows(path, **query):
            if row.get(key) == body[key]:
                return row
        return await self.post(path, body)

    async def link(self, links: Sequence[Mapping[str, int]]) -> None:
        """Link objects; links that exist stay."""
        for each in links:
            await self.post("/permissions", dict(each))


@asynccontextmanager
async def open_api(account: Account) -> AsyncIterator[Api]:
    """Open connections to the API, which last as long as the block."""
    auth = (account.email, account.password)
    async with httpx.AsyncClient(base_url=f"{account.server}/api", auth=auth, timeout=30.0) as client:
        yield Api(client)
