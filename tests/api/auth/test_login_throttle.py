import pytest
from hypothesis import given
from hypothesis import strategies as st

from motorpool.actors.work.connection_limits import client_network
from motorpool.api.auth.login_throttle import MAX_KEYS, LoginLocked, LoginThrottle
from motorpool.api.login_settings import LoginSettings

LIMITS = LoginSettings(failures_per_account=3, failures_per_address=5)


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_after_the_limit_of_an_account_every_attempt_is_refused_until_the_window_has_passed():
    watch = Watch()
    throttle = LoginThrottle(LIMITS, watch)
    for number in range(3):
        throttle.begin_attempt("", f"10.0.0.{number}", account=1)
    with pytest.raises(LoginLocked) as caught:
        throttle.begin_attempt("", "10.0.0.9", account=1)
    assert (caught.value.headers, caught.value.limit) == ({"Retry-After": "300"}, "account")
    throttle.begin_attempt("", "10.0.0.9", account=2)
    watch.now = 299.0
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "10.0.0.9", account=1)
    watch.now = 300.0
    throttle.begin_attempt("", "10.0.0.9", account=1)


def test_a_name_without_an_account_is_limited_as_one_with():
    throttle = LoginThrottle(LIMITS, Watch())
    for name in ("Eve@example.org", " eve@example.org", "EVE@EXAMPLE.ORG"):
        throttle.begin_attempt(name, f"net {name}")
    with pytest.raises(LoginLocked) as caught:
        throttle.begin_attempt("eve@example.org", "10.0.0.9")
    assert caught.value.limit == "account"


def test_a_known_place_is_limited_by_itself_and_by_no_stranger():
    throttle = LoginThrottle(LIMITS, Watch())
    for number in range(3):
        throttle.begin_attempt("", f"10.0.0.{number}", account=1)
    for number in range(5):
        throttle.begin_attempt(f"x{number}", "10.0.0.9")
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "10.0.0.9", account=1)
    for _ in range(3):
        throttle.begin_attempt("", "10.0.0.9", account=1, known_place="device a")
    with pytest.raises(LoginLocked) as caught:
        throttle.begin_attempt("", "10.0.0.9", account=1, known_place="device a")
    assert caught.value.limit == "known place"
    throttle.begin_attempt("", "10.0.0.9", account=1, known_place="device b")
    throttle.begin_attempt("", "10.0.0.9", account=2, known_place="device a")


def test_one_time_codes_and_passwords_have_counts_of_their_own():
    throttle = LoginThrottle(LIMITS, Watch())
    for _ in range(3):
        throttle.begin_attempt("code of 1", "10.0.0.1", account=1)
    for number in range(3):
        throttle.begin_attempt("", f"10.0.1.{number}", account=1, factor="code")
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "10.0.1.9", account=1, factor="code")
    throttle.reset_failures(1)
    throttle.begin_attempt("", "10.0.0.2", account=1)
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "10.0.1.9", account=1, factor="code")


def test_a_success_from_an_unknown_place_does_not_clear_what_strangers_failed():
    throttle = LoginThrottle(LIMITS, Watch())
    for number in range(2):
        throttle.begin_attempt("", f"10.0.0.{number}", account=1)
    throttle.record_success(throttle.begin_attempt("", "10.0.0.9", account=1))
    throttle.begin_attempt("", "10.0.0.3", account=1)
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "10.0.0.4", account=1)


def test_a_success_from_a_known_place_clears_what_failed_there():
    throttle = LoginThrottle(LIMITS, Watch())
    for _ in range(4):
        for _ in range(2):
            throttle.begin_attempt("", "x", account=1, known_place="device a")
        throttle.record_success(throttle.begin_attempt("", "x", account=1, known_place="device a"))


def test_the_limit_of_an_address_holds_over_all_accounts():
    throttle = LoginThrottle(LIMITS, Watch())
    for number in range(5):
        throttle.begin_attempt("", "10.0.0.1", account=number + 1)
    with pytest.raises(LoginLocked) as caught:
        throttle.begin_attempt("", "10.0.0.1", account=9)
    assert caught.value.limit == "address"
    with pytest.raises(LoginLocked):
        throttle.begin_anonymous_attempt("10.0.0.1")
    throttle.begin_attempt("", "10.0.0.2", account=9)


@given(st.lists(st.tuples(st.sampled_from([0, 1, 2]), st.sampled_from("xy")), max_size=60))
def test_successes_never_count(logins):
    throttle = LoginThrottle(LIMITS, Watch())
    for account, address in logins:
        throttle.record_success(throttle.begin_attempt("name", address, account=account))
    assert len(throttle) == 0


def test_a_lock_out_begins_once_however_many_attempts_are_refused():
    watch = Watch()
    throttle = LoginThrottle(LIMITS, watch)
    begun = 0
    for second in range(1000):
        watch.now = float(second)
        try:
            throttle.begin_attempt("", f"10.0.{second >> 8}.{second & 255}", account=1)
        except LoginLocked as locked:
            begun += locked.begins
    assert begun == 1
    watch.now = 2000.0
    for _ in range(3):
        throttle.begin_attempt("", "10.9.9.9", account=1)
    with pytest.raises(LoginLocked) as caught:
        throttle.begin_attempt("", "10.9.9.9", account=1)
    assert caught.value.begins


def test_what_is_counted_is_bounded_and_invented_names_do_not_push_out_accounts():
    throttle = LoginThrottle(LIMITS, Watch())
    for _ in range(3):
        throttle.begin_attempt("", "victim", account=1)
    for number in range(MAX_KEYS + 1000):
        throttle.begin_attempt(f"user{number}" + "x" * 1000, f"{number >> 8}.{number & 255}")
    assert len(throttle) == 2 * MAX_KEYS + 1
    assert all(len(key) < 64 for buckets in throttle._buckets.values() for key in buckets)
    with pytest.raises(LoginLocked):
        throttle.begin_attempt("", "anywhere", account=1)


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
    ],
)
def test_a_client_is_an_ipv4_address_or_a_network_of_64_bits(address, network):
    assert client_network(address) == network
    assert len(client_network(address * 1000)) <= 32
