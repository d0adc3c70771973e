"""The task that hands what other servers send by the link to the actors of this one."""

from typing import Never

from motorpool.runtime import Actor, Link


class LinkServer(Actor[Never]):
    """Serves the link until it is stopped."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def run(self) -> None:
        """Serve it."""
        await self._link.serve(self.context.system)
