"""Exceptions that leave nested nurseries as they were raised inside."""

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType


class GroupUnwrapper:
    """Lets an exception out as it was raised: the nurseries around it do not concern the caller."""

    def __init__(self) -> None:
        self._noted: BaseException | None = None

    @contextmanager
    def record(self) -> Iterator[None]:
        """Note what ends this block; of blocks within each other the innermost counts."""
        try:
            yield
        except BaseException as error:
            if self._noted is None:
                self._noted = error
            raise

    async def __aenter__(self) -> "GroupUnwrapper":
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        noted, inner = self._noted, error
        while noted is not None and isinstance(inner, BaseExceptionGroup):
            # A group of the body's own passes through the nurseries as a copy.
            if isinstance(noted, BaseExceptionGroup) and noted.exceptions == inner.exceptions:
                raise noted
            if len(inner.exceptions) != 1:
                return
            inner = inner.exceptions[0]
            if inner is noted:
                raise noted
