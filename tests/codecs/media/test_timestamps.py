import random
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from motorpool.codecs.media.timestamps import Timeline

MS = 90
SECOND = 90_000
START = 900_000


def pictures(
    timeline: Timeline, stamps: list[int], interval: int = 0, step: float = 0.04
) -> list[tuple[int, bool]]:
    return [timeline.place_picture(stamp, interval, number * step) for number, stamp in enumerate(stamps)]


def times(placed: list[tuple[int, bool]]) -> list[int]:
    return [(pts - START) // MS for pts, _ in placed]


def test_stamps_that_are_right_are_followed_to_the_tick() -> None:
    placed = pictures(Timeline(START), [7_000, 7_040, 7_079, 7_200, 8_200])
    assert times(placed) == [0, 40, 79, 200, 1200]
    assert not any(jumped for _, jumped in placed)


@pytest.mark.parametrize("second", [3, 8_000_000, 2**63])
def test_a_jump_is_told_and_bridged_by_the_devices_interval(second: int) -> None:
    placed = pictures(Timeline(START), [7_000, 7_040, second, second + 40], interval=50)
    assert times(placed) == [0, 40, 90, 130]
    assert [jumped for _, jumped in placed] == [False, False, True, False]


def test_a_jump_without_an_interval_is_bridged_by_the_last_step() -> None:
    assert times(pictures(Timeline(START), [7_000, 7_066, 3, 69])) == [0, 66, 132, 198]


def test_a_clock_that_jumps_at_each_key_frame_is_told_once() -> None:
    stamps = [40 * number for number in range(25)] * 20
    placed = pictures(Timeline(START), stamps, interval=40)
    assert times(placed) == [40 * number for number in range(500)]
    assert sum(jumped for _, jumped in placed) == 1


def test_a_slow_camera_is_no_jump_where_its_interval_says_the_same() -> None:
    placed = pictures(Timeline(START), [0, 5_000, 10_000], interval=5_000, step=5.0)
    assert times(placed) == [0, 5_000, 10_000]
    assert not any(jumped for _, jumped in placed)


@pytest.mark.parametrize("stamp", [lambda number: 0, lambda number: number // 25])
def test_stamps_that_stand_still_are_replaced_by_the_interval(stamp) -> None:
    placed = pictures(Timeline(START), [stamp(number) for number in range(100)], interval=40)
    assert times(placed) == [40 * number for number in range(100)]


@pytest.mark.parametrize("fps", [5, 12, 25, 30])
def test_stamps_that_stand_still_without_interval_are_replaced_by_the_pace_of_arrival(fps: int) -> None:
    chance = random.Random(fps)
    timeline = Timeline(START)
    late = 0.0
    for number in range(60 * fps):
        late = max(late - 1 / fps, chance.choice([0.0, 0.0, 0.2]))
        pts, jumped = timeline.place_picture(0, 0, number / fps + late)
        assert not jumped
        if number > 10 * fps:
            assert abs((pts - START) / SECOND - number / fps) < 0.3


def test_a_recording_with_stamps_that_stand_still_plays_at_25_pictures_a_second() -> None:
    timeline = Timeline(START, live=False)
    placed = [timeline.place_picture(0, 0, 1.0) for _ in range(50)]
    assert times(placed) == [40 * number for number in range(50)]


def test_sound_alone_follows_its_samples() -> None:
    timeline = Timeline(START)
    placed = [
        timeline.place_audio(1000 + round(number * 128) + number % 3, 11_520, number * 0.128)
        for number in range(99)
    ]
    assert [pts - START for pts, _ in placed] == [11_520 * number for number in range(99)]


def test_a_jump_in_sound_alone_is_told_and_bridged() -> None:
    timeline = Timeline(START)
    placed = [timeline.place_audio(stamp, 3_600, 0.0) for stamp in (1000, 1040, 9_000_000, 9_000_040)]
    assert [pts - START for pts, _ in placed] == [0, 3_600, 7_200, 10_800]
    assert [jumped for _, jumped in placed] == [False, False, True, False]


def test_a_pause_of_the_camera_is_left_out_unless_its_sound_goes_on() -> None:
    silent = Timeline(START)
    silent.place_picture(0, 0, 0.0)
    assert silent.place_picture(30_000, 40, 30.0)[0] == START + 40 * MS
    heard = Timeline(START)
    heard.place_picture(0, 0, 0.0)
    for number in range(750):
        heard.place_audio(40 * number, 3600, number * 0.04)
    pts, jumped = heard.place_picture(30_000, 40, 30.0)
    assert jumped
    assert abs(pts - START - 30 * SECOND) < 100 * MS


def test_what_comes_after_a_restart_begins_where_it_is_told() -> None:
    timeline = Timeline(START)
    timeline.place_picture(5, 0, 0.0)
    timeline.place_audio(5, 3600, 0.0)
    timeline.restart(2 * START)
    assert timeline.place_picture(99_999, 0, 0.1) == (2 * START, False)
    assert timeline.picture_end == 2 * START + 40 * MS


class Film:
    """A camera with a true time; what it stamps and how it arrives is up to the scenario."""

    def __init__(self, *, fps: int = 25, sound_ms: float = 40.0, seconds: float = 60.0) -> None:
        step = 1000 / fps
        # A unit of sound is sent once its last sample is there.
        self.events = sorted(
            [(number * step, True, number * step) for number in range(round(seconds * fps))]
            + [
                ((number + 1) * sound_ms, False, number * sound_ms)
                for number in range(round(seconds * 1000 / sound_ms))
            ]
        )
        self.step, self.sound_ms = step, sound_ms

    def worst_skew(
        self, timeline: Timeline, video_clock, audio_clock, *, late=lambda t: 0.0, interval=0, settle=3.0
    ):
        """The largest distance in ms between pictures and sound of one true time, each checked in order."""
        worst, placed_video, last = 0.0, None, {True: -1, False: -1}
        for sent, is_video, true in self.events:
            now = sent / 1000 + late(sent)
            if is_video:
                pts, _ = timeline.place_picture(video_clock(true), interval, now)
                placed_video = pts / MS - true
            else:
                pts, _ = timeline.place_audio(audio_clock(true), round(self.sound_ms * MS), now)
                if placed_video is not None and true > settle * 1000:
                    worst = max(worst, abs(pts / MS - true - placed_video))
            assert pts > last[is_video]
            last[is_video] = pts
        return worst


def test_sound_and_pictures_stay_together_for_three_hours() -> None:
    film = Film(seconds=3 * 3600, sound_ms=128, fps=10)
    assert film.worst_skew(Timeline(START), round, round) <= 40


def test_sound_whose_samples_run_fast_is_held_for_hours() -> None:
    # 8010 samples for what is said to be 8000: 1.25 ms a second, 4.5 s an hour.
    film = Film(seconds=3600, sound_ms=128 * 8000 / 8010, fps=10)
    timeline = Timeline(START)
    film.sound_ms = 128
    assert film.worst_skew(timeline, round, round) <= 100


jumps_ms = st.integers(-(10**6), 10**6).filter(lambda by: by < -1000 or by > 2000)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(10**8, 2**41),
    st.integers(-(10**7), 10**7).filter(lambda by: abs(by) > 1000),
    st.booleans(),
    st.lists(st.tuples(st.floats(5_000, 55_000), jumps_ms), max_size=4),
    st.lists(st.tuples(st.floats(5_000, 55_000), jumps_ms), max_size=2),
    st.sampled_from([10, 15, 25]),
    st.sampled_from([20.0, 40.0, 64.0, 128.0]),
    st.sampled_from([0, 20, 60]),
    st.integers(0, 10**6),
)
def test_sound_and_pictures_stay_within_100_ms_over_jumps(
    video_base: int,
    audio_ahead: int,
    shared: bool,
    jumps: list[tuple[float, int]],
    audio_jumps: list[tuple[float, int]],
    fps: int,
    sound_ms: float,
    jitter_ms: int,
    seed: int,
) -> None:
    chance = random.Random(seed)

    for each in (jumps, audio_jumps):
        instants = sorted(at for at, _ in each)
        # Two at once would be another jump, perhaps one of less than a step.
        assume(all(after - before > 1000 for before, after in pairwise(instants)))
    for at, _ in jumps + audio_jumps:
        apart = audio_ahead + sum(by for when, by in audio_jumps if when <= at)
        apart -= sum(by for when, by in jumps if when <= at)
        # Clocks that agree by chance are taken for one.
        assume(shared or abs(apart) > 1000)

    def video_clock(true: float) -> int:
        return round(video_base + true + sum(by for at, by in jumps if true >= at))

    def audio_clock(true: float) -> int:
        if shared:
            return video_clock(true)
        return round(video_base + audio_ahead + true + sum(by for at, by in audio_jumps if true >= at))

    late = [0.0]

    def arrives(true: float) -> float:
        late[0] = min(max(late[0] + chance.uniform(-0.01, 0.01), 0.0), jitter_ms / 1000)
        return late[0]

    film = Film(fps=fps, sound_ms=sound_ms)
    assert (
        film.worst_skew(Timeline(START), video_clock, audio_clock, late=arrives, interval=round(film.step))
        <= 100
    )


@pytest.mark.parametrize("constant_sound", [True, False])
@pytest.mark.parametrize("interval", [0, 40])
def test_sound_stays_with_pictures_whose_stamps_stand_still(constant_sound: bool, interval: int) -> None:
    film = Film(seconds=600)
    audio_clock = (lambda t: 5) if constant_sound else (lambda t: round(t) + 77_000)
    worst = film.worst_skew(Timeline(START), lambda t: 1234, audio_clock, interval=interval, settle=20.0)
    assert worst <= 100


@given(
    st.lists(
        st.tuples(
            st.booleans(),
            st.integers(0, 2**64 - 1) | st.integers(0, 3000),
            st.integers(0, 65_535),
            st.floats(0, 5),
        ),
        max_size=60,
    ),
    st.booleans(),
)
def test_times_only_grow_whatever_is_stamped(units: list[tuple[bool, int, int, float]], live: bool) -> None:
    timeline = Timeline(START, live=live)
    now = 0.0
    placed: dict[bool, list[int]] = {True: [START - 1], False: [START - 10**9]}
    for is_video, stamp, interval, wait in units:
        now += wait
        if is_video:
            placed[True].append(timeline.place_picture(stamp, interval, now)[0])
        else:
            placed[False].append(timeline.place_audio(stamp, 3600, now)[0])
    for track in placed.values():
        assert all(before < after for before, after in pairwise(track))
