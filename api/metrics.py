"""`/metrics` for Prometheus: for administrators, and networks of the settings (docs/decisions/0015)."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

import trio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from quart import Request, Response
from quart import request as current_request
from quart_trio import QuartTrio

from motorpool.actors.files.disk_space import disk_space
from motorpool.actors.messages.conditions import ALL
from motorpool.actors.messages.counters import COUNTERS
from motorpool.actors.upkeep.memory_limit import MemoryLimit
from motorpool.actors.work.networks import Networks
from motorpool.api.cluster.answer_cache import Answer
from motorpool.api.cluster.home_requests import HOME_REQUESTS, HomeRequest
from motorpool.api.http.addresses import client_address, is_forwarded, peer_address
from motorpool.api.http.errors import Forbidden, Unauthorized
from motorpool.api.http.node_gate import METRICS_PATH, sender_of
from motorpool.api.http.responses import as_bytes
from motorpool.api.logins.authentication import authenticate
from motorpool.api.logins.second_factor import require_codes
from motorpool.api.nodes.control import Sibling
from motorpool.api.nodes.machine import Machine
from motorpool.api.server_context import ServerContext
from motorpool.runtime import ActorError, ConditionsCollector, System
from motorpool.runtime.loop_stalls import LoopStallsCollector
from motorpool.runtime.metrics import LinkCollector, SystemCollector
from motorpool.storage.cluster.homes import Home

TEXT = "text/plain; version=0.0.4; charset=utf-8"
SIBLING_SECONDS = 1.0
"""Another server of the machine that has not told its metrics within this time is left out."""


class MachineCollector(Collector):
    """Disk and memory, measured when they are asked for."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._memory_limit = MemoryLimit()

    def collect(self) -> Iterator[Metric]:
        """Yield what is there, and what of it is free or used."""
        # With an external database the folder may not exist.
        with suppress(OSError):
            disk = disk_space(self._data)
            yield _gauge("disk_free_bytes", "Free space of the disk of the data folder.", disk.free)
            yield _gauge("disk_bytes", "Size of the disk of the data folder.", disk.total)
        memory = self._memory_limit.read()
        if memory is not None:
            text = "without the cache of files, of the control group of the server."
            yield _gauge("memory_used_bytes", f"Memory in use {text}", memory.used)
            yield _gauge("memory_limit_bytes", "Limit of that memory.", memory.limit)


def _gauge(name: str, text: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"motorpool_{name}", text, value=value)


class HttpMetrics:
    """The registry of one server, with the metrics of HTTP."""

    def __init__(self, context: ServerContext) -> None:
        self.registry = CollectorRegistry()
        self.registry.register(SystemCollector(context.system, "motorpool_actors"))
        self.registry.register(LoopStallsCollector(context.loop_stalls, "motorpool_loop"))
        if context.link is not None:
            self.registry.register(LinkCollector(context.link, "motorpool_link"))
        for counter in COUNTERS:
            self.registry.register(counter)
        self.registry.register(ConditionsCollector(context.system.conditions, ALL, "motorpool_condition"))
        self.registry.register(MachineCollector(context.settings.data))
        available = Gauge(
            "motorpool_database_available", "1 while the database answers.", registry=self.registry
        )
        available.set_function(lambda: context.database.available)
        self.requests = Counter(
            "motorpool_http_requests",
            "Answered requests by operation and status class.",
            ("operation", "status"),
            registry=self.registry,
        )
        self.seconds = Histogram(
            "motorpool_http_request_seconds",
            "Time to answer by operation; the sending of long bodies is not in it.",
            ("operation",),
            buckets=(0.005, 0.02, 0.1, 0.5, 2, 10),
            registry=self.registry,
        )
        self.held = Counter(
            "motorpool_http_held_seconds",
            "Time for which answers to players were held until there was something to read; it is not in the"
            " time to answer.",
            registry=self.registry,
        )

        # Finding the child of labels takes longer than counting.
        self._requests_of = cache(self.requests.labels)
        self._seconds_of = cache(self.seconds.labels)

    def observe(self, operation: str, status: int, seconds: float, held: float = 0.0) -> None:
        """Count one answer; for `held` of the seconds there was nothing to answer."""
        self._requests_of(operation, f"{status // 100}xx").inc()
        self._seconds_of(operation).observe(max(0.0, seconds - held))
        self.held.inc(held)


def add_metrics_route(app: QuartTrio, context: ServerContext, http_metrics: HttpMetrics) -> None:
    """Add GET /metrics, for networks of the settings and for administrators."""
    allowed = Networks(context.settings.http.metrics_allow)

    @app.get(METRICS_PATH)
    async def metrics() -> Response:
        if sender_of(current_request) is not None:
            return _as_metrics(generate_latest(http_metrics.registry))
        if not _is_from(current_request, allowed, context.trusted_proxies):
            await _require_administrator(context, current_request)
        own = generate_latest(http_metrics.registry)
        if context.machine is not None:
            own = await _of_machine(context.system, context.machine, own)
        return _as_metrics(own)


def _as_metrics(text: bytes) -> Response:
    return as_bytes(text, TEXT, {"Cache-Control": "no-store"})


async def _of_machine(system: System, machine: Machine, own: bytes) -> bytes:
    """Return the metrics of all servers of the machine that answer soon, each sample with its server."""
    texts = {machine.index: own}
    siblings = machine.siblings()

    async def fetch(sibling: Sibling) -> None:
        home = Home(sibling.node, sibling.url, sibling.key, responds=True)
        with trio.move_on_after(SIBLING_SECONDS), suppress(ActorError):
            answer = await system.ref(HOME_REQUESTS).ask(HomeRequest(home, 0, 0, METRICS_PATH))
            if isinstance(answer, Answer) and answer.status == 200:
                texts[sibling.index] = answer.body

    async with trio.open_nursery() as fetching:
        for each in siblings.ready:
            if each.index != machine.index:
                fetching.start_soon(fetch, each)
    processes = CollectorRegistry()
    for name, text, number in (
        ("wanted", "Server processes that this machine is to run.", siblings.wanted),
        ("answering", "Server processes of this machine whose metrics are here.", len(texts)),
    ):
        Gauge(f"motorpool_processes_{name}", text, registry=processes).set(number)
    return merged(dict(sorted(texts.items()))) + generate_latest(processes)


def merged(texts: Mapping[int, bytes]) -> bytes:
    """Return the samples of several servers, by index, as one text: each with the label `node`."""
    heads: dict[bytes, list[bytes]] = {}
    samples: dict[bytes, list[bytes]] = {}
    for index, text in texts.items():
        family = b""
        added = set()
        for line in text.splitlines():
            if line.startswith(b"#"):
                family = line.split(b" ", 3)[2]
                if family not in heads:
                    heads[family] = []
                    added.add(family)
                if family in added:
                    heads[family].append(line)
                continue
            name, separator, rest = line.partition(b"{")
            if not separator:
                name, _, value = line.partition(b" ")
                rest = b"} " + value
            elif not rest.startswith(b"}"):
                rest = b"," + rest
            samples.setdefault(family, []).append(b'%s{node="%d"%s' % (name, index, rest))
    lines = [line for family in heads for line in (*heads[family], *samples.get(family, ()))]
    return b"\n".join(lines) + b"\n"


def _is_from(request: Request, allowed: Networks, trusted: Networks) -> bool:
    """Return whether the client is in one of the networks; of proxies only trusted ones say where it is."""
    if is_forwarded(request) and (
        peer_address(request) not in trusted or "X-Forwarded-For" not in request.headers
    ):
        return False
    return client_address(request, trusted) in allowed


async def _require_administrator(context: ServerContext, request: Request) -> None:
    caller = await authenticate(context, request)
    require_codes(caller)
    if caller is None and "Authorization" in request.headers:
        raise Unauthorized("metrics are for administrators, and this is no credential of one")
    if caller is None or not caller.administrator:
        raise Forbidden("metrics are for administrators, and for the networks of [http] metrics_allow")
