import pytest

from motorpool.codecs.devices import CODECS
from motorpool.codecs.devices.base import DeviceCodec
from motorpool.codecs.errors import UnsupportedCommand


class Silent(DeviceCodec):
    """A protocol without any optional part."""

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


def test_optional_methods_do_nothing_by_default():
    codec = Silent()
    assert codec.tick(0.0) == b""
    assert codec.closing is False
    assert codec.utc_now is None
    with pytest.raises(UnsupportedCommand, match="silent sends commands at once"):
        codec.deliver("text")


def test_codecs_are_registered_by_being_in_the_folder():
    assert {"jt808", "osmand"} <= CODECS.keys()
    assert all(codec.name == name for name, codec in CODECS.items())


def test_no_two_protocols_share_a_port():
    ports = [codec.port for codec in CODECS.values()]
    assert len(ports) == len(set(ports))


def test_texts_of_options_that_say_a_boolean_are_one():
    codec = CODECS["h02"]()
    codec.configure(
        "", {"h02.ack": " False", "h02.alternative": "TRUE", "h02.x": "yes", "gt06.language": "true"}
    )
    assert codec.options == {"ack": False, "alternative": True, "x": "yes"}
