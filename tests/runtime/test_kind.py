from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from motorpool.runtime import Kind, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class AsDataclass(Request[int]):
    """A request as the house writes most of them."""

    channel: int


class AsStruct(Request[int], msgspec.Struct, frozen=True, kw_only=True):
    """A request that also travels as JSON or MessagePack."""

    channel: int


class AsStructTheOtherWayRound(msgspec.Struct, Request[int], frozen=True):
    """The order of the bases is the author's."""

    channel: int


@pytest.mark.parametrize("request_class", [AsDataclass, AsStruct, AsStructTheOtherWayRound])
def test_requests_mix_with_slotted_dataclasses_and_with_structs(request_class: Any) -> None:
    request = request_class(channel=1)
    assert isinstance(request, Request)
    assert request == request_class(channel=1)
    assert not hasattr(request, "__dict__")
    with pytest.raises(AttributeError):
        request.channel = 2
    assert msgspec.json.decode(msgspec.json.encode(request), type=request_class) == request


def test_kinds_compare_by_identity_and_show_their_name() -> None:
    device: Kind[int, Any] = Kind("device")
    twin: Kind[int, Any] = Kind("device")
    assert device != twin
    assert repr(device) == "Kind('device')"


@pytest.mark.parametrize("name", ["", "a/b"])
def test_a_name_that_would_make_paths_ambiguous_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="without a slash"):
        Kind(name)
