"""Targets and origins as requests hold them, which may be malformed."""

from collections.abc import Iterable
from urllib.parse import urlsplit


class Origins:
    """The origins whose pages may use the API from a browser (`[http] cors_origin`)."""

    def __init__(self, text: str | None) -> None:
        """Read origins with commas between them; `*` is any."""
        self._listed = frozenset(filter(None, (word.strip() for word in (text or "").split(","))))

    def __contains__(self, origin: str) -> bool:
        """Whether an origin is listed; an empty one never is."""
        return bool(origin) and ("*" in self._listed or origin in self._listed)


def host_of(url: str) -> str:
    """Return host and port of a URL or an origin, in lower case; nothing for `null` or a malformed one."""
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""


def path_of(target: str) -> str:
    """Return the path of a request target, which may be a whole URL; an empty one if it is malformed."""
    if target.startswith("/"):
        return target
    try:
        return urlsplit(target).path
    except ValueError:
        return ""


def is_of_host(origin: str, hosts: Iterable[str]) -> bool:
    """Return whether an origin is that of one of these hosts, written as in the header `Host`."""
    host = host_of(origin)
    return bool(host) and any(host == each.lower() for each in hosts)
