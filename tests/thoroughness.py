"""How thoroughly is tested: at each change, or at length with `pytest --long` (`make test-long`).

Tests that are marked `long` run at length only. Properties (Hypothesis) draw new examples in each run, from a
seed that the head of its report names: a few at each change, many at length. `@settings(max_examples=…)` says
how many a property gets in proportion to others; those that say nothing have 100. Hypothesis keeps examples
that failed in .hypothesis/ and tries these first. A test that makes its own random examples takes a `seed`.
"""

import random
from typing import Any

import hypothesis
import pytest
from hypothesis import core, is_hypothesis_test

EXAMPLES = {"quick": 0.2, "long": 5.0}
"""By profile of Hypothesis: by what the examples of a property are multiplied."""
FEWEST_EXAMPLES = 5
LONG_SEEDS = 8
"""How many seeds a test gets at length that makes its own random examples."""

LONG = "long: is run by `make test-long` only"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--long", action="store_true", help="run tests that are marked `long`, and properties at length"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", LONG)
    for name in EXAMPLES:
        # Not the profile that Hypothesis takes in continuous integration, which repeats the same examples.
        usual = hypothesis.settings.get_profile("default")
        # However slow the machine is.
        slow = [hypothesis.HealthCheck.too_slow]
        hypothesis.settings.register_profile(
            name, usual, deadline=None, suppress_health_check=slow, print_blob=True
        )
    hypothesis.settings.load_profile("long" if config.option.long else "quick")
    seed = random.getrandbits(32)
    config.stash[SEED] = seed if config.option.hypothesis_seed is None else config.option.hypothesis_seed
    # As with --hypothesis-seed, except that failing examples are kept.
    core.threadlocal._hypothesis_global_random = Seed(seed)


class Seed(random.Random):
    """Gives each property the same seed."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed = seed

    def getrandbits(self, _: int, /) -> int:
        return self._seed


SEED = pytest.StashKey[int | str]()


def pytest_report_header(config: pytest.Config) -> str:
    return f"random examples: --hypothesis-seed={config.stash[SEED]}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that has an argument `seed` a new one in each run, or several at length."""
    given = [mark.args[0] for mark in metafunc.definition.iter_markers("parametrize")]
    if "seed" in metafunc.fixturenames and "seed" not in given:
        chance = random.Random(str(metafunc.config.stash[SEED]))
        seeds = [chance.getrandbits(32) for _ in range(LONG_SEEDS if metafunc.config.option.long else 1)]
        # Failures are run again by their names, which stay the same.
        metafunc.parametrize("seed", seeds, ids=[str(number) for number in range(1, len(seeds) + 1)])


@pytest.fixture(scope="session")
def at_length(pytestconfig: pytest.Config) -> bool:
    """Whether a test has the time to try more than it does at each change."""
    return bool(pytestconfig.option.long)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the tests, and how many examples the properties among them get."""
    factor = EXAMPLES.get(hypothesis.settings.get_current_profile_name(), 1.0)
    holders: dict[int, tuple[Any, str]] = {}
    for item in items:
        function: Any = getattr(item, "obj", None)
        if is_hypothesis_test(function):
            holder = _settings_of(item, function)
            holders[id(holder[0])] = holder
    for holder, name in holders.values():
        usual = getattr(holder, name, None) or hypothesis.settings.default
        examples = max(FEWEST_EXAMPLES, round(usual.max_examples * factor))
        setattr(holder, name, hypothesis.settings(usual, max_examples=examples))
    if not config.option.long:
        chosen = [item for item in items if item.get_closest_marker("long") is None]
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("long")])
        items[:] = chosen


def _settings_of(item: pytest.Item, function: Any) -> tuple[Any, str]:
    """Return where the settings of a property are kept: an object and the name of its attribute."""
    if function.__name__ == "runTest":
        return getattr(item, "cls"), "settings"  # noqa: B009 - of a state machine
    return getattr(function, "__func__", function), "_hypothesis_internal_use_settings"
