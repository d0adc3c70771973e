import json

import pytest

from motorpool.api.http import responses
from motorpool.api.http.responses import as_bytes, as_json, as_json_array, as_text, no_content
from motorpool.storage.errors import StorageUnavailable


async def batches(*found):
    for batch in found:
        if isinstance(batch, Exception):
            raise batch
        yield batch


@pytest.mark.parametrize(
    "found",
    [
        [],
        [[]],
        [[1]],
        [[], [1]],
        [[1, 2], [3]],
        [[1], [], [2], [3, 4], []],
        [[1], [2, 3], [4], [5]],
    ],
)
@pytest.mark.parametrize("whole_bytes", [0, 2, 1 << 20])
async def test_batches_become_one_array(found, whole_bytes, monkeypatch):
    monkeypatch.setattr(responses, "WHOLE_BYTES", whole_bytes)
    response = await as_json_array(batches(*found))
    body = b"".join([piece async for piece in response.response])
    assert json.loads(body) == [number for batch in found for number in batch]
    assert response.content_type == "application/json"


async def test_a_database_that_is_away_is_known_before_anything_is_answered():
    with pytest.raises(StorageUnavailable):
        await as_json_array(batches(StorageUnavailable("away")))


async def test_each_form_has_its_type():
    assert as_json([]).content_type == "application/json"
    assert as_text("x", 404).content_type == "text/plain; charset=utf-8"
    assert as_bytes(b"x", "video/mp2t", {"Cache-Control": "no-store"}).headers["Cache-Control"] == "no-store"
    assert no_content().status_code == 204
