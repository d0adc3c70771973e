"""What a server says of what is wrong with it: in its log, health, metrics, refusals and the WebSocket."""

import json
import queue
import re
import threading
from contextlib import contextmanager

import httpx
import trio
from trio_websocket import open_websocket_url

from motorpool.bench.vehicles.jt808.platform_messages import GeneralResponse
from motorpool.bench.vehicles.jt808.terminal import encode_location
from motorpool.runtime import SystemClock

PATIENCE = 120.0
CLOCK = SystemClock()
DAY = {"from": "2020-01-01T00:00:00Z", "to": "2100-01-01T00:00:00Z"}
_SEVERE = re.compile(r"^\S+Z (?:WARNING|ERROR  |CRITICAL) motorpool\.(\S+): (.*)")


class Log:
    """The lines that a server logs from now on."""

    def __init__(self, server):
        self._server = server
        self._begin = len(server.log)

    def said(self):
        """What the warnings and errors say of each condition, by name; there must be no others."""
        found = {}
        for line in self._server.log[self._begin :].splitlines():
            severe = _SEVERE.match(line)
            # That its loop waits for a processor says only that this machine is busy.
            if severe and severe[1] != "runtime.loop_stalls":
                assert severe[1] == "runtime.conditions", line
                name, _, text = severe[2].partition(": ")
                found.setdefault(name, []).append(text)
        return found

    def check(self, **causes):
        """Each condition was said once, with its cause (a regular expression), and once when it was over."""
        said = self.said()
        assert set(said) == set(causes), said
        for name, cause in causes.items():
            begin, *others, end = said[name]
            assert re.search(cause, begin), said
            assert re.fullmatch(r"over after \d+ s, seen \d+ times", end), said
            # While it lasts there may be another reason, which is said once.
            reasons = [text.partition(", and now: ")[2].partition(": ")[0] for text in others]
            assert len({begin.partition(": ")[0], *reasons}) == 1 + len(others), said


class Banner:
    """What the console shows to an administrator: the conditions that a WebSocket is sent."""

    def __init__(self):
        self._sent = queue.Queue()
        self.present = {}
        """By name: what is told of it."""

    def wait(self, *names, text=""):
        """Wait until these are present, and no others but `clock`; one alone with this text.

        That a clock was set is shown for ten minutes.
        """
        while set(self.present) - {"clock"} != set(names) - {"clock"} or not self._says(names, text):
            self.present = {each["name"]: each for each in self._sent.get(timeout=PATIENCE)}

    def _says(self, names, text):
        return all(name in self.present and text in self.present[name]["text"] for name in names)

    async def follow(self, url, started):
        """Follow a WebSocket until the scope in `started` is cancelled; Trio's token is there too."""
        async with open_websocket_url(url) as socket:
            with trio.CancelScope() as scope:
                started.put((trio.lowlevel.current_trio_token(), scope))
                while True:
                    message = json.loads(await socket.get_message())
                    if "conditions" in message:
                        self._sent.put(message["conditions"])


@contextmanager
def banner_of(server, client):
    """Follow what is sent to an administrator meanwhile."""
    token = client.post("/session/token").raise_for_status().text
    url = f"{server.url.replace('http', 'ws')}/api/socket?token={token}"
    banner, started = Banner(), queue.Queue()
    thread = threading.Thread(target=trio.run, args=(banner.follow, url, started))
    thread.start()
    trio_token, scope = started.get(timeout=PATIENCE)
    try:
        yield banner
    finally:
        trio_token.run_sync_soon(scope.cancel)
        thread.join()


class Reporter:
    """A terminal that knows which of its positions were acknowledged."""

    def __init__(self, peer):
        self.peer = peer
        self.sent, self.acknowledged = [], []

    def send(self):
        terminal = self.peer.terminal
        self.sent.append(terminal.serial)
        self.peer.send(terminal.location(encode_location(52.5, 13.4, CLOCK.now())))

    def wait(self):
        """Wait until all that was sent is acknowledged."""
        while len(self.acknowledged) < len(self.sent):
            answer = self.peer.messages(lambda message: isinstance(message, GeneralResponse))[-1]
            assert (answer.answered_id, answer.result) == (0x0200, 0)
            self.acknowledged.append(answer.answered_serial)
        assert self.acknowledged == self.sent

    def report(self):
        self.send()
        self.wait()

    def check_unanswered(self):
        """Nothing was said to the terminal since the last acknowledgement that it has waited for."""
        self.peer.socket.setblocking(False)
        try:
            answer = self.peer.socket.recv(1)
        except BlockingIOError:
            return
        raise AssertionError(f"the terminal was answered: {answer!r}")

    def check_stored(self, client, unique_id, earlier=0):
        """Each position is stored once, besides `earlier` ones of the device."""
        (device,) = client.get("/devices", params={"uniqueId": unique_id}).json()
        stored = client.get("/positions", params={"deviceId": device["id"], **DAY}).json()
        assert len(stored) == earlier + len(self.sent)


def measured(server):
    """The names of the conditions that are present, as the metrics show them."""
    text = httpx.get(f"{server.url}/metrics").raise_for_status().text
    return set(re.findall(r'^motorpool_condition\{condition="(\w+)"\} 1\.0', text, re.MULTILINE))
