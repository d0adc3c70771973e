"""Tests of many cases that need one server: to start it takes longer than most cases."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any


def on_one_server(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Any], Any]:
    """As `pytest.mark.parametrize`, but that all cases run one after another in one test.

    For cases that leave nothing behind that the next one would meet, such as what is refused. The first that
    fails ends the test, and is named.
    """
    each = (names,) if isinstance(names, str) else names

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        of_test = inspect.signature(test)

        @wraps(test)
        async def run_all(**fixtures: Any) -> None:
            for case in cases:
                values = (case,) if isinstance(names, str) else case
                try:
                    await test(**fixtures, **dict(zip(each, values, strict=True)))
                except BaseException as error:
                    error.add_note(f"case: {case!r}")
                    raise

        left = [of for name, of in of_test.parameters.items() if name not in each]
        run_all.__signature__ = of_test.replace(parameters=left)  # type: ignore[attr-defined]
        return run_all

    return decorate
