"""Terminals with cameras, and such as film while the server reads them, for journeys that watch."""

import contextlib
import socket
import threading
import time
from datetime import UTC, datetime, timedelta

from PIL import Image

from motorpool.bench.vehicles.camera import Camera, VideoFormat
from motorpool.bench.vehicles.city import ROUND_TRIPS
from motorpool.bench.vehicles.frame_numbers import read_number
from motorpool.bench.vehicles.jt808.platform_messages import LiveVideoControl, LiveVideoRequest
from motorpool.bench.vehicles.route import Drive
from motorpool.codecs.media.jt1078.sender import Jt1078Sender

FPS = 10
START = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
FORMAT = VideoFormat(width=320, height=180, frames_per_second=FPS, kbps=200)
DRIVE = Drive(ROUND_TRIPS[0], seed=1)
ASKED = LiveVideoRequest, LiveVideoControl


# The line of greys in which the picture's number is drawn, of each video that plays.
ROWS = """
() => [...document.querySelectorAll("video")].map((video) => {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
  if (!canvas.width) return null;
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0);
  const row = context.getImageData(0, Math.round(canvas.height * 0.95), canvas.width, 1).data;
  return Array.from({ length: canvas.width }, (_, x) => row[4 * x]);
})
"""


class CameraVehicle:
    """A signed-in terminal with cameras, whose threads serve it until `end`."""

    def __init__(self, server, peer, cameras=2):
        self.peer = peer
        self._ended = threading.Event()
        self._threads = []
        with server.client() as client:
            number = peer.terminal.identity.number.lstrip("0")
            (self.device,) = client.get("/devices", params={"uniqueId": number}).json()
            self.device["name"] = f"Van {number[-3:]}"
            self.device["attributes"]["channels"] = cameras
            assert client.put(f"/devices/{self.device['id']}", json=self.device).status_code == 200

    @property
    def id(self):
        return self.device["id"]

    @property
    def name(self):
        return self.device["name"]

    def end(self):
        self._ended.set()
        # Closed by one thread, a socket does not wake another one that reads.
        with contextlib.suppress(OSError):
            self.peer.socket.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(30)

    def _run(self, serve, *args):
        self._threads.append(threading.Thread(target=serve, args=args, daemon=True))
        self._threads[-1].start()


class FilmingVehicle(CameraVehicle):
    """A terminal that films with each camera that it is asked for and that works."""

    def __init__(self, server, peer, working, cameras=2):
        super().__init__(server, peer, cameras)
        self.working = set(working)
        self.asked = []
        """Cameras, in the order of the requests."""
        self.filming = []
        """Cameras whose media connections are open."""
        self.may_film = threading.Event()
        """Cameras that are asked for connect once it is set."""
        self.may_film.set()
        self._run(self._serve)

    @property
    def path(self):
        return f"/vehicles/{self.id}/live"

    def end(self):
        self._ended.set()
        self.may_film.set()
        super().end()

    def _serve(self):
        # The socket ends with the test.
        with contextlib.suppress(OSError, AssertionError):
            while True:
                asked = self.peer.messages(lambda message: isinstance(message, ASKED), seconds=120)[-1]
                self.peer.send(self.peer.terminal.general_response(asked))
                if isinstance(asked, LiveVideoControl):
                    continue
                self.asked.append(asked.channel)
                if asked.channel in self.working:
                    self._run(self._film, asked)

    def _film(self, asked):
        self.may_film.wait(120)
        camera = Camera(self.name, asked.channel, FORMAT)
        sender = Jt1078Sender(self.peer.terminal.identity.number, 6)
        self.filming.append(asked.channel)
        # The server closes the connection when nobody watches.
        with (
            contextlib.suppress(OSError),
            socket.create_connection((asked.host, asked.tcp_port), timeout=40) as media,
        ):
            began = time.monotonic()
            while not self._ended.is_set():
                at = camera.frames / FPS
                self._ended.wait(max(0.0, began + at - time.monotonic()))
                media.sendall(
                    b"".join(
                        map(sender.encode, camera.encode_frame(DRIVE.at(at), START + timedelta(seconds=at)))
                    )
                )
        self.filming.remove(asked.channel)


def picture_numbers(page):
    """The number in the picture of each video; None where there is none yet."""
    rows = page.evaluate(ROWS)
    return [
        row and read_number(Image.frombytes("L", (len(row), 1), bytes(row)).resize((640, 360)))
        for row in rows
    ]


def tile_of(page, vehicle, camera):
    """The tile of a camera."""
    return page.get_by_role("article", name=f"{vehicle.name}, camera {camera}")
