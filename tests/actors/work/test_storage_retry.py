import pytest
import trio

from motorpool.actors.work.storage_retry import StorageRetry
from motorpool.runtime import BackOff
from motorpool.storage.errors import Conflict, StatementRejected, StorageError, StorageUnavailable


class Recorder:
    """What a retry reported."""

    def __init__(self, **settings):
        self.retried, self.dropped = [], []
        settings.setdefault("back_off", BackOff(first_seconds=1.0, max_seconds=4.0, jitter=0.0))
        self.retry = StorageRetry(
            on_retry=self.retried.append,
            on_dropped=lambda item, error: self.dropped.append((item, error)),
            **settings,
        )


class Store:
    """Stores batches once its errors have been raised; refuses items."""

    def __init__(self, *errors, refused=(), refusal=None):
        self.errors = list(errors)
        self.refused, self.refusal = set(refused), refusal or StatementRejected("out of range")
        self.calls, self.stored = [], []

    async def __call__(self, batch=()):
        self.calls.append((trio.current_time(), list(batch)))
        if self.errors:
            raise self.errors.pop(0)
        if self.refused & set(batch):
            raise self.refusal
        self.stored += batch
        return "done"


async def test_a_call_is_repeated_until_the_database_is_available(autojump_clock):
    away = StorageUnavailable("away")
    recorder, work = Recorder(), Store(*[away] * 5)
    since = trio.current_time()
    assert await recorder.retry.call(work) == "done"
    assert [at - since for at, _ in work.calls] == pytest.approx([0, 1, 3, 7, 11, 15])
    assert recorder.retried == [away] * 5


async def test_every_call_begins_with_the_first_pause(autojump_clock):
    recorder, work = Recorder(), Store()
    for _ in range(2):
        work.errors = [StorageUnavailable("away")] * 2
        since = trio.current_time()
        await recorder.retry.call(work)
        assert trio.current_time() - since == pytest.approx(3)


@pytest.mark.parametrize("error", [Conflict("name", "key"), StatementRejected("no"), KeyError("bug")])
async def test_a_call_that_is_refused_is_not_repeated(autojump_clock, error):
    recorder, work = Recorder(), Store(error)
    with pytest.raises(type(error)) as raised:
        await recorder.retry.call(work)
    assert raised.value is error
    assert len(work.calls) == 1


async def test_a_batch_is_stored_in_one_piece(autojump_clock):
    recorder, store = Recorder(), Store()
    assert await recorder.retry.store((1, 2, 3), store) == [1, 2, 3]
    assert store.stored == [1, 2, 3]
    assert len(store.calls) == 1


async def test_a_batch_waits_for_the_database_in_one_piece(autojump_clock):
    recorder, store = Recorder(), Store(StorageUnavailable("away"), StorageError("unforeseen"))
    since = trio.current_time()
    assert await recorder.retry.store([1, 2, 3], store) == [1, 2, 3]
    assert [(at - since, batch) for at, batch in store.calls] == [
        (0, [1, 2, 3]),
        (pytest.approx(1), [1, 2, 3]),
        (pytest.approx(3), [1, 2, 3]),
    ]
    assert recorder.dropped == []


async def test_only_the_items_that_are_refused_are_dropped_and_the_order_is_kept(autojump_clock):
    recorder, store = Recorder(), Store(refused={0, 5, 6})
    assert await recorder.retry.store(range(9), store) == [1, 2, 3, 4, 7, 8]
    assert store.stored == [1, 2, 3, 4, 7, 8]
    assert [item for item, _ in recorder.dropped] == [0, 5, 6]
    assert {error for _, error in recorder.dropped} == {store.refusal}
    assert recorder.retried == []


async def test_an_outage_in_between_drops_nothing(autojump_clock):
    recorder, store = Recorder(), Store(StatementRejected("no"), StorageUnavailable("away"), refused={3})
    assert await recorder.retry.store([1, 2, 3, 4], store) == [1, 2, 4]
    assert [item for item, _ in recorder.dropped] == [3]
    assert len(recorder.retried) == 1


async def test_an_error_that_is_neither_is_raised(autojump_clock):
    recorder = Recorder()
    with pytest.raises(KeyError):
        await recorder.retry.store([1, 2], Store(KeyError("bug")))


async def test_other_errors_may_be_refusals_as_well(autojump_clock):
    recorder = Recorder(refusals=(Exception,))
    store = Store(StorageUnavailable("away"), refused={2}, refusal=OverflowError("too large"))
    assert await recorder.retry.store([1, 2, 3], store) == [1, 3]
    assert recorder.dropped == [(2, store.refusal)]


async def test_a_batch_whose_first_attempt_failed_is_resumed_after_a_pause(autojump_clock):
    recorder, store = Recorder(), Store()
    away, since = StorageUnavailable("away"), trio.current_time()
    assert await recorder.retry.resume([1, 2], store, away) == [1, 2]
    assert [(at - since, batch) for at, batch in store.calls] == [(pytest.approx(1), [1, 2])]
    assert recorder.retried == [away]
