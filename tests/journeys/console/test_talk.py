"""Talking to a driver from the console, with Chromium's microphone of a file (docs/console.md#talk)."""

import array
import contextlib
import math
import threading
import time

import pytest
import trio
from playwright.sync_api import expect
from tests.journeys.console.conftest import Visitor

from motorpool.bench.load.browser import chromium_options, find_headless
from motorpool.bench.target import Target
from motorpool.bench.vehicles.cab import Cab, read_wav, write_wav
from motorpool.bench.vehicles.camera import VideoFormat
from motorpool.bench.vehicles.encoding_thread import EncodingThread
from motorpool.bench.vehicles.on_board_unit import OnBoardUnit
from motorpool.bench.vehicles.vehicle import Vehicle, VehiclePlan
from motorpool.runtime.clock import SystemClock

RATE = 8000
PHONE = "13900070001"
SAID, ANSWERED = (700, 1100), (1700, 2300)
"""Tones, in Hz, that the microphone hears in turn, and that the driver answers."""

# Hears what the page plays of the vehicle: the loudest frequency while it is loud.
_EAR = """
window.heard = [];
const { AudioWorkletNode: Original } = window;
window.AudioWorkletNode = class extends Original {
  constructor(context, name, options) {
    super(context, name, options);
    if (name !== "talk-loudspeaker") return;
    const ear = new AnalyserNode(context, { fftSize: 4096, smoothingTimeConstant: 0 });
    this.connect(ear);
    const bins = new Float32Array(ear.frequencyBinCount);
    const timer = setInterval(() => {
      if (context.state === "closed") return clearInterval(timer);
      ear.getFloatFrequencyData(bins);
      const at = bins.reduce((best, level, index) => (level > bins[best] ? index : best), 0);
      if (bins[at] > -50) window.heard.push((at * context.sampleRate) / ear.fftSize);
    }, 50);
  }
};
"""


def tones(frequencies, seconds):
    samples = array.array("h")
    for hertz in frequencies:
        samples.extend(
            round(12_000 * math.sin(math.tau * hertz * at / RATE)) for at in range(int(seconds * RATE))
        )
    return samples.tobytes()


def loudness(samples, hertz):
    """The part of a sound's power that lies at a frequency (Goertzel), 0 to 1."""
    factor = 2 * math.cos(math.tau * hertz / RATE)
    one = two = 0.0
    for sample in samples:
        one, two = sample + factor * one - two, one
    power = one * one + two * two - factor * one * two
    return 2 * power / len(samples) / (sum(sample * sample for sample in samples) or 1)


def arrived(samples, hertz):
    """The clearest tenth of a second of a tone."""
    step = RATE // 10
    parts = (samples[start : start + step] for start in range(0, len(samples) - step, step))
    return max((loudness(part, hertz) for part in parts if max(part) > 1000), default=0.0)


@contextlib.contextmanager
def terminal(server, cab):
    """A simulated terminal in a thread of its own."""
    plan = VehiclePlan(
        name="Van",
        phone=PHONE,
        version=2013,
        plate="B-MP 1",
        trip=0,
        backwards=False,
        seed=1,
        channels=1,
        interval_seconds=5,
        video=VideoFormat(width=320, height=180, frames_per_second=10, kbps=200),
        cab=cab,
    )
    target = Target(host=server.host, port_offset=server.offset)
    unit = OnBoardUnit(Vehicle(plan), target, EncodingThread(), SystemClock())
    ends = []

    async def drive():
        with trio.CancelScope() as scope:
            token = trio.lowlevel.current_trio_token()
            ends.append(lambda: token.run_sync_soon(scope.cancel))
            await unit.run()

    thread = threading.Thread(target=trio.run, args=(drive,), daemon=True)
    thread.start()
    try:
        yield unit
    finally:
        ends[0]()
        thread.join(30)


@pytest.fixture
def speaker(chromium, server, tmp_path):
    """A page of a browser whose microphone hears the tones."""
    voice = tmp_path / "voice.wav"
    write_wav(voice, tones(SAID, 0.5))
    options = [
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-audio-capture={voice}",
        "--autoplay-policy=no-user-gesture-required",
    ]
    browser = chromium.browser_type.launch(
        executable_path=find_headless(), args=[*chromium_options(), *options]
    )
    visitor = Visitor(browser, server, {"permissions": ["microphone"]})
    visitor.draw_no_maps()
    visitor.context.add_init_script(_EAR)
    yield visitor
    browser.close()
    assert visitor.complaints == []


def test_a_word_spoken_into_the_microphone_reaches_the_driver_whose_answer_is_heard(
    server, speaker, tmp_path, eventually
):
    answer, folder = tmp_path / "answer.wav", tmp_path / "heard"
    write_wav(answer, tones(ANSWERED, 0.6))
    folder.mkdir()
    page = speaker.page
    with terminal(server, Cab(answer=answer, folder=folder)) as unit, server.client() as client:
        eventually(lambda: unit.is_logged_in)
        (device,) = client.get("/devices", params={"uniqueId": PHONE}).json()
        device["attributes"]["channels"] = 1
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        speaker.log_in(f"/vehicles/{device['id']}/live")
        button = page.get_by_role("button", name="Talk to the driver: hold and speak")
        expect(button).to_be_attached()

        page.keyboard.down("p")
        expect(page.get_by_text("Speak now")).to_be_visible()
        expect(page.get_by_role("meter", name="You")).to_be_visible()
        time.sleep(2.5)
        page.keyboard.up("p")
        expect(page.get_by_text("You hear the vehicle.")).to_be_visible()

        def heard(hertz):
            return any(abs(each - hertz) < 40 for each in page.evaluate("window.heard"))

        # Before anything that keeps the page busy: the driver answers once.
        eventually(lambda: all(map(heard, ANSWERED)))
        speaker.assert_accessible()

        # Another page of the user is told who talks.
        other = speaker.context.new_page()
        other.goto(f"{server.url}/vehicles/{device['id']}/live")
        other.get_by_role("button", name="Talk to the driver: hold and speak").focus()
        other.keyboard.down("Enter")
        expect(other.get_by_text("talks to this driver.")).to_be_visible()
        other.keyboard.up("Enter")
        other.close()

        # The button speaks as the key does, and a page that is left ends the talk.
        button.hover()
        page.mouse.down()
        expect(page.get_by_text("Speak now")).to_be_visible()
        page.mouse.up()
        page.set_viewport_size({"width": 390, "height": 844})
        speaker.assert_fits()
        page.set_viewport_size({"width": 1280, "height": 720})
        page.get_by_role("link", name="Account").click()
        eventually(lambda: list(folder.glob("*.wav")))
        (file,) = folder.glob("*.wav")
        spoken = array.array("h", read_wav(file))
        assert all(arrived(spoken, hertz) > 0.6 for hertz in SAID)
        assert all(arrived(spoken, hertz) < 0.2 for hertz in ANSWERED)


def test_a_microphone_that_is_refused_is_said_in_words(server, visitor, tmp_path, eventually):
    with terminal(server, Cab()) as unit, server.client() as client:
        eventually(lambda: unit.is_logged_in)
        (device,) = client.get("/devices", params={"uniqueId": PHONE}).json()
        device["attributes"]["channels"] = 1
        assert client.put(f"/devices/{device['id']}", json=device).status_code == 200
        guest = visitor(server, webgl=False)
        page = guest.page
        guest.log_in(f"/vehicles/{device['id']}/live")
        button = page.get_by_role("button", name="Talk to the driver: hold and speak")
        button.focus()
        page.keyboard.down("Enter")
        expect(page.get_by_role("alert")).to_contain_text("microphone")
        page.keyboard.up("Enter")
        page.get_by_role("button", name="Close").click()
        expect(page.get_by_role("alert")).to_have_count(0)
