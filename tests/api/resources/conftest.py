"""An OpenID Connect provider on this machine, and what a browser does with it."""

import json
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

from motorpool.api.login_settings import OpenIdSettings

CALLBACK = "/api/session/openid/callback"


class Quiet(WSGIRequestHandler):
    def log(self, *args: Any) -> None:
        pass


@cache
def import_keys_once() -> None:
    """Let the provider examine its private key once: for each token anew it takes longer than most tests."""
    from authlib.oidc.core.grants import code

    examine, examined = code.import_any_key, {}

    def import_any_key(key: dict[str, str]) -> Any:
        text = json.dumps(key)
        if text not in examined:
            examined[text] = examine(key)
        return examined[text]

    code.import_any_key = import_any_key


class OpenId:
    """The real provider of oidc-provider-mock, whose answers a test may change."""

    def __init__(self) -> None:
        self.changes: dict[str, Callable[[Any], Any]] = {}
        """Path -> what becomes of the JSON that is answered there."""
        self.asked: list[str] = []
        """The paths of all requests."""
        self.forms: list[dict[str, list[str]]] = []
        """What the token endpoint was sent."""
        with warnings.catch_warnings():
            # It says of itself that it uses modules that will go.
            warnings.simplefilter("ignore")
            import oidc_provider_mock

            import_keys_once()
            self._app = oidc_provider_mock.app()
        self._lock = threading.Lock()
        self._server = make_server("127.0.0.1", 0, self._wsgi, threaded=True, request_handler=Quiet)
        self.issuer = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """The provider is gone; its port refuses."""
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def settings(self, **fields: Any) -> OpenIdSettings:
        known = {"issuer": self.issuer, "client_id": "motorpool", "client_secret": "s3:cret"}
        return OpenIdSettings(**{**known, **fields})

    async def user(self, sub: str, **claims: Any) -> None:
        """Somebody who may log in there."""
        async with httpx.AsyncClient(trust_env=False) as client:
            answer = await client.put(f"{self.issuer}/users/{sub}", json=claims)
            assert answer.status_code == 204

    async def page(self, address: str, sub: str | None) -> str:
        """Log in at the provider's page, or with None give up; where it sends the browser."""
        form = {"action": "deny"} if sub is None else {"sub": sub}
        async with httpx.AsyncClient(trust_env=False) as client:
            assert (await client.get(address)).status_code == 200
            answer = await client.post(address, data=form)
            assert answer.status_code in {302, 303}, answer.text
            return answer.headers["Location"]

    async def log_in(self, client: Any, sub: str | None, query: str = "") -> Any:
        """The whole way of one browser; the answer of our callback."""
        begun = await client.get(f"/session/openid/auth{query}")
        assert begun.status == 303, begun.text
        return await self.finish(client, begun.headers["Location"], sub)

    async def finish(self, client: Any, address: str, sub: str | None) -> Any:
        """Log in at the provider's page; the answer of our callback."""
        back = urlsplit(await self.page(address, sub))
        assert back.path == CALLBACK
        return await client.call("GET", f"{back.path}?{back.query}", headers={"Accept": "text/html"})

    def _wsgi(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterator[bytes]:
        path = environ["PATH_INFO"]
        self.asked.append(path)
        if path == "/oauth2/token":
            size = int(environ["CONTENT_LENGTH"])
            body = environ["wsgi.input"].read(size)
            self.forms.append({**parse_qs(body.decode()), "basic": [environ.get("HTTP_AUTHORIZATION", "")]})
            import io

            environ["wsgi.input"] = io.BytesIO(body)
        began: list[Any] = []
        # The filters of warnings belong to the process: threads must not change them at the same time.
        with self._lock, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parts = self._app(environ, lambda *args: began.append(args) or (lambda _: None))
            body = b"".join(parts)
        status, headers = began[0][:2]
        if path in self.changes:
            changed = self.changes[path](json.loads(body) if status.startswith("200") else None)
            if isinstance(changed, int):
                status, changed = f"{changed} Changed", {}
            body = json.dumps(changed).encode()
            headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        start_response(status, headers)
        return iter([body])


@pytest.fixture(scope="module")
def providers() -> Iterator[list[OpenId]]:
    """One for the tests of a module: making its key takes longer than most of them."""
    made: list[OpenId] = []
    yield made
    for provider in made:
        provider.stop()


@pytest.fixture
def openid(providers: list[OpenId]) -> OpenId:
    if not providers or not providers[-1].alive:
        providers.append(OpenId())
    provider = providers[-1]
    provider.changes, provider.asked, provider.forms = {}, [], []
    return provider
