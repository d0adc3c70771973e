import pytest

from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.base import DeviceCodec


class Silent(DeviceCodec):
    """A protocol that has none of the things that only some have."""

    name = "silent"
    port = 1
    commands = frozenset()

    def receive(self, data):
        return []

    def acknowledge(self, receipts):
        return b""

    def refuse(self, receipt):
        return b""

    def encode(self, command):
        raise NotImplementedError

    @property
    def buffered(self):
        return 0


def test_what_most_protocols_do_not_need_does_nothing():
    codec = Silent()
    assert codec.tick(0.0) == b""
    assert codec.closing is False
    assert codec.utc_now is None
    with pytest.raises(NotImplementedError):
        codec.deliver("text")


def test_the_folder_is_the_list_of_protocols():
    assert {"jt808", "osmand"} <= CODECS.keys()
    assert all(codec.name == name for name, codec in CODECS.items())


def test_no_two_protocols_share_a_port():
    ports = [codec.port for codec in CODECS.values()]
    assert len(ports) == len(set(ports))
