"""The application: declared operations with authentication, errors, headers, WebSocket and console."""

import errno
import logging
from functools import cache

import trio
from quart import Request, Response, Websocket, has_request_context
from quart import request as current_request
from quart import websocket as current_websocket
from werkzeug.exceptions import HTTPException, MethodNotAllowed, RequestEntityTooLarge, RequestTimeout

from motorpool.actors.change_feed import publish_changes
from motorpool.actors.messages.changes import EverythingChanged
from motorpool.actors.messages.conditions import DATABASE, DISK, OPEN_FILES
from motorpool.actors.upkeep.statistics import STATISTICS, RequestServed
from motorpool.actors.words.record_json import encode
from motorpool.api import metrics
from motorpool.api.cluster import stream_moves
from motorpool.api.engine.audit import record_refusal
from motorpool.api.engine.call import Call
from motorpool.api.engine.openapi import describe
from motorpool.api.engine.operations import Content, Operation, Operations
from motorpool.api.engine.schemas import Json
from motorpool.api.http import console_files
from motorpool.api.http.asgi import Answer, Application
from motorpool.api.http.common_headers import CommonHeaders
from motorpool.api.http.compression import compress
from motorpool.api.http.errors import HttpError, Unauthorized, Unavailable
from motorpool.api.http.node_gate import sender_of
from motorpool.api.http.responses import as_bytes, as_text
from motorpool.api.logins.authentication import authenticate
from motorpool.api.logins.pages import refuse_foreign_page
from motorpool.api.logins.second_factor import require_codes_for
from motorpool.api.logins.view_only import require_change_for
from motorpool.api.resources import OPERATIONS, talk
from motorpool.api.server_context import ServerContext
from motorpool.api.sockets import websocket
from motorpool.api.version import program_version
from motorpool.runtime import ActorError, ActorFailed, ActorStopped, AskTimedOut, Conditions
from motorpool.storage.errors import Conflict, NotFound, StatementRejected, StorageError, StorageUnavailable

_log = logging.getLogger(__name__)


def create_app(context: ServerContext) -> Application:
    """Create the application of one running server."""
    http = context.settings.http
    headers = CommonHeaders(
        is_tls=http.tls_certificate is not None, hsts=http.hsts, cors_origin=http.cors_origin
    )
    app = Application("motorpool.api", prefix="/api/", common_headers=headers)
    app.url_map.merge_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = http.body_bytes
    app.config["PROPAGATE_EXCEPTIONS"] = False
    http_metrics = metrics.HttpMetrics(context)
    _encoded_document()  # takes some 100 ms, which a request should not wait for
    for operation in [*OPERATIONS, _document_operation()]:
        answer = _answer_with(context, operation, http_metrics)
        app.add_operation(operation.method, operation.rule, operation.name, answer)
    websocket.add_socket(app, context)
    talk.add_talk_socket(app, context)
    console_files.add_console_routes(app, lambda: context.settings, context.settings.override)
    metrics.add_metrics_route(app, context, http_metrics)
    stream_moves.add_move_routes(app, context)

    @app.errorhandler(Exception)
    async def handle_error(error: Exception) -> Response:
        request = current_request if has_request_context() else current_websocket
        return answer_error(error, request, context.system.conditions)

    return app


def openapi_document() -> Json:
    """Return the OpenAPI document of all operations; it needs neither a database nor a port."""
    return describe([*OPERATIONS, _document_operation()], version=program_version())


@cache
def _encoded_document() -> bytes:
    return encode(openapi_document())


@cache
def _document_operation() -> Operation:
    collected = Operations("server")

    @collected.operation("GET", "/openapi.json", answers={200: Content(text="This document")}, public=True)
    async def get_openapi(call: Call) -> Response:
        """The OpenAPI document of all operations."""
        return as_bytes(_encoded_document(), "application/json")

    return next(iter(collected))


def _answer_with(context: ServerContext, operation: Operation, http_metrics: metrics.HttpMetrics) -> Answer:
    """Return the function that answers the requests for an operation."""

    async def answer(request: Request, path: dict[str, int | str]) -> Response:
        began = context.clock.monotonic()
        call = Call(context, request, path)
        try:
            response = await serve(call)
        except Exception as error:
            response = answer_error(error, request, context.system.conditions)
            if isinstance(error, HttpError):
                await record_refusal(call, operation, error)
        held = call.held_seconds
        if held:
            response.headers["Server-Timing"] = f"hold;dur={1000 * held:.0f}"
        http_metrics.observe(operation.name, response.status_code, context.clock.monotonic() - began, held)
        await compress(request, response)
        return response

    async def serve(call: Call) -> Response:
        call.body_bytes = operation.body_bytes
        if context.stored_server.is_stale and not operation.for_players:
            await context.stored_server.refresh()
        try:
            return await serve_call(call)
        finally:
            call.release()

    async def serve_call(call: Call) -> Response:
        if operation.is_change(call):
            refuse_foreign_page(context, call.request)
        await _identify(call, operation)
        if call.optional_caller is not None and sender_of(call.request) is None:
            context.system.ref(STATISTICS).offer(RequestServed(call.optional_caller.id))
        if operation.method == "GET" or operation.raw_media_types:
            return await operation.serve(call)
        return await _serve_change(call, operation)

    return answer


async def _identify(call: Call, operation: Operation) -> None:
    """Find out who the caller is.

    Raises:
        Unauthorized: the operation needs a credential, and there is none.
        Forbidden: the caller has to set up one-time codes first, or may change nothing in this session.
    """
    call.optional_caller = call.unchecked = None
    try:
        call.optional_caller = await authenticate(call.context, call.request)
    except HttpError:
        # On a public operation an invalid credential counts as none.
        if not operation.public:
            raise
    except StorageUnavailable as error:
        # Anybody may read these, whoever it is; what a change makes depends on the user.
        if not operation.public or operation.method != "GET":
            raise
        call.unchecked = error
    if call.optional_caller is None and not operation.public:
        raise Unauthorized("log in first")
    require_codes_for(call.optional_caller, operation.method, operation.path, call.path.get("id"))
    if operation.is_change(call):
        require_change_for(call.optional_caller, operation.method, operation.path)


async def _serve_change(call: Call, operation: Operation) -> Response:
    """Serve a change to its end, even if the client disconnects; only the stop of the server ends it.

    A cancellation between a commit and its announcement would leave caches stale. If it is unknown whether
    the transaction was committed, everything cached is read again.
    """
    if operation.body is not None or operation.form is not None:
        await call.raw_body()
        if call.rights_may_have_changed:
            call.rights_changes = call.context.rights_changes
            await _identify(call, operation)
    response: Response | None = None
    with trio.CancelScope(shield=True) as call.shield:
        call.context.lifetime.changes.add(call.shield)
        try:
            response = await operation.serve(call)
        except StorageUnavailable:
            await publish_changes(call.context.system, EverythingChanged())
            raise
        finally:
            call.context.lifetime.changes.discard(call.shield)
    if response is None:
        raise Unavailable("the server is stopping")
    return response


def answer_error(error: Exception, request: Request | Websocket, conditions: Conditions) -> Response:
    """Return the answer for an exception: the one mapping from errors to status and text."""
    match error:
        case HttpError():
            http_error = error
        case StorageUnavailable():
            http_error = Unavailable(_reason(error, conditions))
        case NotFound():
            return as_text("not found", 404)
        case Conflict():
            return as_text(str(error), 400)
        case StatementRejected():
            if error.shown != str(error):
                # What is read of a request is to be checked, so that the answer names the field.
                _log.warning("%s %s: %s", request.method, request.path, error)
            return as_text(error.shown, 400)
        case StorageError():
            _log.error("storage failed at %s %s: %s", request.method, request.path, error)
            return as_text("the database refused the request", 500)
        case OSError(errno=errno.EMFILE | errno.ENFILE):
            _log.warning("%s %s: %s", request.method, request.path, error)
            http_error = Unavailable(OPEN_FILES.text)
        case AskTimedOut() | ActorStopped() | ActorFailed() | ActorError():
            _log.warning("%s %s: %s", request.method, request.path, error)
            http_error = Unavailable("the server is too busy or restarting a part; try again")
        case RequestEntityTooLarge():
            return as_text("the body is too large", 413, {"Connection": "close"})
        case RequestTimeout():
            return as_text("the body did not arrive in time", 400, {"Connection": "close"})
        case HTTPException():
            allowed = sorted(error.valid_methods or ()) if isinstance(error, MethodNotAllowed) else ()
            headers = {"Allow": ", ".join(allowed)} if allowed else {}
            return as_text((error.name or "refused").lower(), error.code or 500, headers)
        case _:
            _log.error("%s %s failed", request.method, request.path, exc_info=error)
            return as_text("internal error", 500)
    headers = dict(http_error.headers)
    if isinstance(http_error, Unauthorized) and "text/html" in request.headers.get("Accept", ""):
        # Only for people who open an API address by hand; a fetch must not open the browser's login dialog.
        headers.setdefault("WWW-Authenticate", 'Basic realm="api"')
    return as_text(http_error.text, http_error.status, headers)


def _reason(error: StorageUnavailable, conditions: Conditions) -> str:
    """Return what users are told of an error: the outage that caused it, if there is one."""
    outage = conditions.find(DATABASE)
    # An embedded database whose disk is full breaks off, and cannot say why.
    disk = conditions.find(DISK) if type(error) is StorageUnavailable else None
    text = error.text if outage is None else outage.text
    return text if disk is None else f"{text}: {disk.text}"
