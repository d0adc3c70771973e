"""What is said of the limit of open files."""

import logging
import resource

import pytest

from motorpool.actors.gateway.settings import DeviceSettings
from motorpool.api.program.file_limit import raise_file_limit
from motorpool.api.settings import Settings


@pytest.mark.parametrize(
    ("limit", "settings", "warned"),
    [
        (20_000, Settings(), []),
        (1_048_576, Settings(device=DeviceSettings(connections=50_000)), []),
        (20_000, Settings(device=DeviceSettings(connections=50_000)), ["device.connections is 50000"]),
        (1024, Settings(), ["device.connections", "video.connections", "http.connections"]),
    ],
    ids=["defaults", "enough", "too many", "hardly any"],
)
def test_a_warning_says_what_is_not_possible_although_it_was_configured(
    monkeypatch, caplog, limit, settings, warned
):
    raised = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, limit))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    raise_file_limit(settings)
    assert raised == [(limit, limit)]
    messages = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert len(messages) == len(warned)
    for message, start in zip(messages, warned, strict=True):
        assert message.startswith(start)
        assert f"the limit of open files ({limit})" in message
