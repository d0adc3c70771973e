import pytest

from motorpool.api.http.origins import Origins, host_of, is_of_host, path_of


def test_listed_origins_are_compared_as_they_are_and_an_empty_one_is_none():
    origins = Origins("https://a.example, https://b.example:8443,")
    assert "https://a.example" in origins
    assert "https://b.example:8443" in origins
    assert "https://b.example" not in origins
    assert "" not in origins
    assert "null" in Origins("*")
    assert "" not in Origins("*")
    assert "https://a.example" not in Origins(None)


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://Fleet.Example", "fleet.example"),
        ("http://[::1]:80/x", "[::1]:80"),
        ("http://fleet.example@evil.example", "fleet.example@evil.example"),
        ("null", ""),
        ("http://[", ""),
        ("http://a]b", ""),
        ("", ""),
    ],
)
def test_the_host_of_what_is_malformed_is_none(url, host):
    assert host_of(url) == host
    assert is_of_host(url, [host]) == (host != "")


@pytest.mark.parametrize(
    ("target", "path"),
    [("/a", "/a"), ("//[", "//["), ("http://x/a", "/a"), ("http://[", ""), ("http://x", ""), ("*", "*")],
)
def test_the_path_of_a_target_may_be_that_of_a_whole_url(target, path):
    assert path_of(target) == path
