"""How much of what clients may ask for, at once or within a time."""

import trio

from motorpool.actors.cluster.shared_attempts import SharedAttempts, SharedRate
from motorpool.actors.reports.limits import RunningLimit
from motorpool.actors.work.connection_limits import MemoryBudget
from motorpool.actors.work.rate_limits import RateLimit
from motorpool.api.auth.refusal_counts import RefusalCounts
from motorpool.api.http.errors import TooManyRequests
from motorpool.api.http.open_sockets import OpenSockets
from motorpool.api.http.search_limit import SearchLimit
from motorpool.api.http.turns import Turns
from motorpool.api.settings import Settings
from motorpool.runtime import Clock

BODY_MEMORY = 64 << 20
CLIENT_BODY_MEMORY = 16 << 20
"""Bytes of request bodies in memory, in all and for one client address; further requests get 503."""
PARSER_THREADS = 2
HOUR_SECONDS = 3600.0
WEBHOOK_TESTS = 6
"""Tests of a company's webhook within a minute."""
ADDRESS_SEARCHES = 30
"""Searches of addresses within a minute."""
EXPLANATIONS = 30
"""Messages of devices that are explained within a minute."""
INVITATIONS = 200
"""Invitations within an hour by each user."""
INVITATIONS_TO_USER = 5
"""Invitations within an hour to each user."""
DOWNLOAD_SECONDS = 600.0
"""Period in which one user's requests for one capture count as one download."""


async def count(rate: SharedRate, key: str, what: str) -> None:
    """Count a request of a kind for a key. Raises TooManyRequests if there were too many."""
    wait = await rate.hit(key)
    if wait:
        raise TooManyRequests(f"too many {what}; try again in {max(1, round(wait))} s", wait)


class RequestLimits:
    """The limits of one server; with `shared`, limits of rates count for all servers of a cluster."""

    def __init__(self, settings: Settings, clock: Clock, shared: SharedAttempts | None = None) -> None:
        def rate(name: str, most: int, seconds: float = HOUR_SECONDS) -> SharedRate:
            return SharedRate(name, most, seconds, clock.monotonic, shared)

        users = settings.users
        self.resets = rate("reset address", users.resets_per_address, users.reset_minutes * 60)
        """Password resets requested from each address."""
        self.registrations = rate("registration", users.registrations_per_address)
        """Users registered from each address."""
        self.invitations = rate("invitation", INVITATIONS)
        """Users whom each user has invited."""
        self.invitations_to_user = rate("invitation to", INVITATIONS_TO_USER)
        """Invitations mailed to each user."""
        self.message_tests = rate("message test", users.tests_per_hour)
        """Test messages sent by each user."""
        self.webhook_tests = rate("webhook test", WEBHOOK_TESTS, 60.0)
        """Tests of the webhook of each company."""
        self.address_searches = rate("address search", ADDRESS_SEARCHES, 60.0)
        """Searches for which each user has the geocoder asked."""
        self.explanations = rate("explanation", EXPLANATIONS, 60.0)
        """Messages of devices that are explained to each user."""
        self.explaining = Turns(1)
        """Turns of each user at having one explained."""
        self.explainers = trio.CapacityLimiter(1)
        """Processes that explain messages."""
        self.report_mails = rate("report mail", settings.reports.mails_per_hour)
        """Reports that were mailed to each user."""
        self.downloads = RateLimit(1, DOWNLOAD_SECONDS, clock.monotonic)
        """Downloads of captures that are audited, by user and file."""
        self.refusals = RefusalCounts()
        """Refused requests of each user, for the audit log."""
        self.backups = trio.CapacityLimiter(1)
        """Backups that are being sent."""
        self.workbooks = RunningLimit(settings.reports.workbooks_per_user)
        """Workbooks that are being made for each user."""
        self.searches = SearchLimit()
        """Searches and statistics of tickets that are being made."""
        self.turns = Turns()
        """Turns of each user at long answers."""
        self.renditions = Turns(1)
        """Turns of each user at having pictures and films made."""
        self.open_sockets = OpenSockets(settings.http)
        """WebSockets of each user and address."""
        self.body_memory = MemoryBudget(BODY_MEMORY, CLIENT_BODY_MEMORY)
        """What bodies of requests that are being served hold."""
        self.parsers = trio.CapacityLimiter(PARSER_THREADS)
        """Threads that parse large bodies."""
