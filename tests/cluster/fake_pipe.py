"""A pipe between nodes of one process, which delays, loses and cuts by a seed, on Trio's clock."""

import math
import random

import trio


class FakeNetwork:
    """What connects the pipes of all nodes."""

    def __init__(self, nursery, seed=0, delay=(0.001, 0.001), loss=0.0):
        self.nursery = nursery
        self.choose = random.Random(seed)
        self.delay = delay
        """The least and the longest time that a message takes, in seconds."""
        self.loss = loss
        """The probability that a message is lost without a word."""
        self.pipes = []

    def pipe(self):
        """Make another node's pipe."""
        pipe = FakePipe(self)
        self.pipes.append(pipe)
        return pipe


class FakePipe:
    """One node's end."""

    def __init__(self, network):
        self._network = network
        self._listeners = {}
        self._undelivered = self._changed = self.lost = lambda _: None
        self._ways = {}
        self._life = 0
        self.is_connected = True
        self.max_unsent = None
        """How many messages it takes while none of them has arrived; None: any number."""
        self._unsent = 0
        self.is_frozen = False
        """Whether its process reads and sends nothing."""
        self._kept = []
        self._unsent_now = []
        """What a frozen one sends: the simulation goes on where a process would not."""

    def listen(self, subject, received):
        self._listeners[subject] = received

    def follow(self, *, undelivered, changed, lost):
        self._undelivered, self._changed, self.lost = undelivered, changed, lost

    def send(self, subject, data, number=0):
        network = self._network
        if not self.is_connected or (self.max_unsent is not None and self._unsent >= self.max_unsent):
            return False
        if self.is_frozen:
            self._unsent_now.append((subject, bytes(data), number))
            return True
        there = [each for each in network.pipes if each is not self and each.hears(subject)]
        if not there and number:
            network.nursery.start_soon(self._return, number, self._life)
        for pipe in there:
            if network.choose.random() >= network.loss:
                self._unsent += 1
                arrival = trio.current_time() + network.choose.uniform(*network.delay)
                item = arrival, (self._life, pipe._life), bytes(data)
                self._way(pipe, subject).send_nowait(item)
        return True

    def hears(self, subject):
        return self.is_connected and subject in self._listeners

    def _way(self, pipe, subject):
        """Where what is sent to a listener waits; it arrives in order."""
        if (pipe, subject) not in self._ways:
            self._ways[pipe, subject], items = trio.open_memory_channel(math.inf)
            self._network.nursery.start_soon(self._carry, pipe, subject, items)
        return self._ways[pipe, subject]

    async def _carry(self, pipe, subject, items):
        async for arrival, lives, data in items:
            await trio.sleep_until(arrival)
            self._unsent -= 1
            if lives == (self._life, pipe._life):
                pipe._receive(subject, data)

    async def _return(self, number, life):
        await trio.sleep(self._network.choose.uniform(*self._network.delay))
        if life == self._life:
            self._undelivered(number)

    def _receive(self, subject, data):
        if self.is_frozen:
            self._kept.append((subject, data))
        else:
            self._listeners[subject](data)

    def thaw(self):
        """Read all that has arrived while it was frozen."""
        self.is_frozen = False
        kept, self._kept = self._kept, []
        for subject, data in kept:
            self._listeners[subject](data)
        unsent, self._unsent_now = self._unsent_now, []
        for each in unsent:
            self.send(*each)

    def close(self):
        """End with its process."""
        self._life += 1
        self.is_connected = False
        self._network.pipes.remove(self)

    def cut(self):
        """Lose the connection, and what is on its way."""
        if self.is_connected:
            self.is_connected = False
            self._life += 1
            self._kept, self._unsent_now = [], []
            self._changed(False)

    def mend(self):
        """Connect again."""
        if not self.is_connected:
            self.is_connected = True
            self._changed(True)
