"""What the documents of a provider over HTTPS may say, and where they may lead."""

import json

import pytest
import trio
from tests.actors.http.conftest import authority, names

from motorpool.actors.http.http import OutgoingHttp
from motorpool.api.auth.openid_documents import MAX_BYTES, ProviderDocuments, ProviderUnavailable

__all__ = ["authority", "names"]


@pytest.fixture
def provider(web_server, authority, names):
    """`provider(**changes)`: the documents of a provider whose discovery document has these changes."""
    names({"id.example": [["127.0.0.1"]], "keys.example": [["127.0.0.1"]]})

    def make(path="", **changes):
        def answer(asked):
            made.asked_paths.append(asked.path)
            return answers.get(asked.path, (404, b""))

        server = web_server(answer, authority.server("id.example"))
        issuer = f"https://id.example:{server.port}{path}"
        metadata = {
            "issuer": issuer,
            "authorization_endpoint": f"{issuer}/authorize",
            "token_endpoint": f"{issuer}/token",
            "jwks_uri": f"{issuer}/keys",
        }
        found = {key: value.format(issuer=issuer, port=server.port) for key, value in changes.items()}
        answers = {
            f"{path}/.well-known/openid-configuration": (200, json.dumps({**metadata, **found}).encode()),
            f"{path}/keys": (200, b'{"keys": []}'),
        }
        made = ProviderDocuments(issuer, OutgoingHttp(tls=authority.trusting), trio.current_time)
        made.answers, made.server, made.asked_paths = answers, server, []
        return made

    return make


async def test_the_documents_are_read_from_the_issuers_address_over_tls(provider):
    for path in ("", "/realms/fleet"):
        metadata = await provider(path).metadata()
        assert metadata.token_endpoint == f"{metadata.issuer}/token"


@pytest.mark.parametrize(
    "issuer",
    [
        "{issuer}.evil.example",
        "{issuer}/other",
        "{issuer}?",
        "{issuer}#",
        " {issuer}",
        "https://ID.example:{port}",
        "http://id.example:{port}",
        "https://id.example",
        "https://evil.example",
        "",
    ],
)
async def test_a_document_of_another_issuer_is_not_believed(provider, issuer):
    with pytest.raises(ProviderUnavailable):
        await provider(issuer=issuer).metadata()


async def test_a_slash_at_the_end_of_an_issuer_does_not_count(provider):
    # Settings and providers write it differently; the address of the document is the same.
    assert (await provider(issuer="{issuer}/").metadata()).issuer.endswith("/")


@pytest.mark.parametrize(
    "name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"]
)
@pytest.mark.parametrize("scheme", ["http://", "HTTP://", "ftp://", "//", "javascript:"])
async def test_no_endpoint_of_a_provider_over_tls_is_without_it(provider, name, scheme):
    with pytest.raises(ProviderUnavailable):
        await provider(**{name: f"{scheme}id.example:{{port}}/x"}).metadata()


async def test_another_host_that_the_provider_names_is_as_untrusted_as_any(provider):
    documents = provider(jwks_uri="https://keys.example:{port}/keys")
    with pytest.raises(ProviderUnavailable):
        await documents.key("RS256", None)
    assert "/keys" not in documents.asked_paths


async def test_a_redirect_leads_nowhere_and_a_long_document_is_not_read(provider):
    for answer in ((302, b""), (200, b" " * (MAX_BYTES + 1) + b"{}")):
        documents = provider()
        documents.answers["/.well-known/openid-configuration"] = answer
        documents.server.headers["Location"] = "/elsewhere"
        with pytest.raises(ProviderUnavailable):
            await documents.metadata()
        assert documents.asked_paths == ["/.well-known/openid-configuration"]


async def test_a_certificate_of_another_name_is_refused(provider, authority):
    documents = provider()
    issuer = f"https://keys.example:{documents.server.port}"
    other = ProviderDocuments(issuer, OutgoingHttp(tls=authority.trusting), trio.current_time)
    with pytest.raises(ProviderUnavailable):
        await other.metadata()
    assert documents.asked_paths == []
