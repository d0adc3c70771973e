"""The tree as Prometheus metrics: a few numbers for each kind and topic, however many actors there are."""

from collections.abc import Iterator
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from motorpool.runtime.link import OUTCOMES, Link
from motorpool.runtime.system import System


class SystemCollector(Collector):
    """Reads a system when it is scraped; costs nothing in between. Collect in the system's own thread."""

    def __init__(self, system: System, prefix: str = "actors") -> None:
        self._system: Final = system
        self._prefix: Final = prefix

    def collect(self) -> Iterator[Metric]:
        """All metrics at this moment."""
        yield from self._kinds()
        yield from self._topics()
        yield CounterMetricFamily(
            f"{self._prefix}_dead_letters",
            "Messages accepted and never handled",
            value=self._system.dead_letters,
        )

    def _kinds(self) -> Iterator[Metric]:
        alive = self._gauge("alive", "Actors that are there now", "kind")
        depth = self._gauge("mailbox_depth", "Messages that wait in mailboxes", "kind")
        handled = self._counter("handled", "Messages handled", "kind")
        restarts = self._counter(
            "restarts", "Restarts after a crash, and of permanent actors that left", "kind"
        )
        given_up = self._counter(
            "given_up", "Actors on demand removed because they crashed too often", "kind"
        )
        for each in self._system.totals():
            labels = [each.kind]
            alive.add_metric(labels, each.alive)
            depth.add_metric(labels, each.depth)
            handled.add_metric(labels, each.handled)
            restarts.add_metric(labels, each.restarts)
            given_up.add_metric(labels, each.given_up)
        yield from (alive, depth, handled, restarts, given_up)

    def _topics(self) -> Iterator[Metric]:
        readers = self._gauge("topic_subscriptions", "Readers of a topic", "topic")
        published = self._counter("topic_published", "Values published", "topic")
        lost = self._counter("topic_lost", "Values that slow readers lost", "topic")
        dropped = self._counter("topic_dropped", "Values not forwarded because a mailbox was full", "topic")
        for each in self._system.topics():
            labels = [each.name]
            readers.add_metric(labels, each.subscriptions)
            published.add_metric(labels, each.published)
            lost.add_metric(labels, each.lost)
            dropped.add_metric(labels, each.dropped)
        yield from (readers, published, lost, dropped)

    def _gauge(self, name: str, text: str, label: str) -> GaugeMetricFamily:
        return GaugeMetricFamily(f"{self._prefix}_{name}", text, labels=[label])

    def _counter(self, name: str, text: str, label: str) -> CounterMetricFamily:
        return CounterMetricFamily(f"{self._prefix}_{name}", text, labels=[label])


class LinkCollector(Collector):
    """The link to other nodes, read when it is scraped."""

    def __init__(self, link: Link, prefix: str = "link") -> None:
        self._link: Final = link
        self._prefix: Final = prefix

    def collect(self) -> Iterator[Metric]:
        """Whether there is a connection, and what became of messages."""
        yield GaugeMetricFamily(
            f"{self._prefix}_connected",
            "Whether there is a connection to other servers",
            value=int(self._link.is_connected),
        )
        messages = CounterMetricFamily(
            f"{self._prefix}_messages", "Messages to and from other servers, by outcome", labels=["outcome"]
        )
        for outcome in OUTCOMES:
            messages.add_metric([outcome], self._link.counts[outcome])
        yield messages
