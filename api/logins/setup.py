"""The set-up token: who has it registers as the first user, and so becomes the administrator
(docs/users.md#the-first-user).
"""

import hmac
import secrets

from motorpool.api.engine.call import Call
from motorpool.storage.accounts import tokens
from motorpool.storage.database.queries import Queries

HEADER = "X-Setup-Token"
REFUSAL = (
    "the first user registers with the link, or the set-up token in it, that the server prints at its start"
)
_KEY = "set-up"
"""Name of the token in the table of keys."""


async def fetch_setup_token(database: Queries) -> str:
    """Return the set-up token: the same for all servers on the database, and after a restart."""
    stored = await tokens.signing_key(database, _KEY, lambda: secrets.token_urlsafe(16).encode())
    return stored.decode()


def may_set_up(call: Call) -> bool:
    """Return whether the client may become the administrator of a new server."""
    sent = call.request.headers.get(HEADER, "")
    expected = call.context.logins.setup_token
    return hmac.compare_digest(sent.encode("utf-8", "surrogatepass"), expected.encode())
