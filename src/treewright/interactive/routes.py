"""The routes of the studio. Reading is GET and changes nothing; a change is POST with a JSON body.

    GET  /                             the page; /static/... its modules and those of the report page
    GET  /api/state                    the tree as a report, start, log, columns of the table, what can be undone
    GET  /api/splits?node=             every column's best split, best first, each with the edit that makes it
    GET  /api/curve?node=&column=      the score of every cut of a number, with the distribution of its values
    GET  /api/levels?node=&column=     the levels of a column at the node, and what each holds
    POST /api/try                      an edit Split: children, score and held-out score, nothing is changed
    GET  /api/columns?node=            each column at the node: missing, distribution, share of the target explained
    GET  /api/rows?node=&held_out=&sort=&down=&first=&n=        a page of rows as texts
    GET  /api/scatter?node=&x=&y=&held_out=                     points, cuts and mistakes
    GET  /api/mistakes                 held-out loss of every node
    GET  /api/pruning?node=            the pruning path below the node: alpha, leaves, training and held-out risk
    GET  /api/arithmetic?node=&column= the derivation as HTML, escaped
    POST /api/edit                     an edit, as tw.edit writes it; returns the new state
    POST /api/grow                     {"node": ..., "recipe": ...}: grow a node by another recipe than the session's
    POST /api/start                    begin anew: target, recipe, kinds, left_out, weight, costs, holdout
    POST /api/undo, /api/redo          the step before, the step after
    POST /api/compare                  {"recipe": ...}: the tree it learns, and where the two differ
    POST /api/cross_validate           {"recipe": ... or null}: the score over five folds of a recipe, or of the log
    POST /api/cancel                   end long work; what it would have changed stays as it is
    GET  /api/events                   server-sent events: progress, ended, changed
    GET  /api/take/FORM                a file to download; POST /api/save {"form": ...} writes it into the folder

A response other than 200 is {"error": what is wrong and what to do}.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from functools import wraps
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from treewright.editing.edits import Edit, Split
from treewright.errors import DataError, TreewrightError
from treewright.export.javascript_source import router_source
from treewright.interactive.jobs import CancelledError, give_back
from treewright.interactive.node_table import MOST_ROWS
from treewright.interactive.page_words import with_page_words
from treewright.interactive.session import Session
from treewright.interactive.start import Start

_KINDS = {".js": "text/javascript", ".css": "text/css", ".html": "text/html"}
#: Seconds of work after which freed memory is given back.
_MUCH = 0.03
#: Seconds until a stream of events looks whether the studio is closing.
_PATIENCE = 0.3
#: What is served of the package, besides the module that routes rows.
_FOLDERS = {"reporting": "treewright.reporting", "interactive": "treewright.interactive"}


def application(session: Session) -> Starlette:
    """Return the application of a session; `Guard` stands before it."""
    read: dict[str, Callable[[Any], Any]] = {
        "state": lambda _: session.state(),
        "splits": lambda query: session.snapshot.ranked(_node(query)),
        "curve": lambda query: session.snapshot.curve(_node(query), _text(query, "column")),
        "levels": lambda query: session.snapshot.levels(_node(query), _text(query, "column")),
        "columns": lambda query: session.snapshot.columns(_node(query)),
        "rows": lambda query: session.snapshot.rows(
            _node(query),
            unseen=_flag(query, "held_out"),
            sort=query.get("sort") or None,
            down=_flag(query, "down"),
            first=_count(query, "first", 0),
            n=_count(query, "n", MOST_ROWS),
        ),
        "scatter": lambda query: session.snapshot.scatter(
            _node(query), (_text(query, "x"), _text(query, "y")), unseen=_flag(query, "held_out")
        ),
        "mistakes": lambda _: session.snapshot.mistakes(),
        "pruning": lambda query: session.snapshot.pruning(_node(query)),
        "arithmetic": lambda query: session.snapshot.arithmetic(_node(query), query.get("column") or None),
    }
    write: dict[str, Callable[[Any], Any]] = {
        "try": lambda body: session.snapshot.tried(_split(body)),
        "edit": lambda body: _then_state(session, lambda: session.do(Edit.from_dict(body))),
        "grow": lambda body: _then_state(session, lambda: session.grow(_key(body, "node"), _key(body, "recipe"))),
        "start": lambda body: _then_state(session, lambda: session.do(Start.from_dict(body))),
        "undo": lambda _: _then_state(session, session.undo),
        "redo": lambda _: _then_state(session, session.redo),
        "compare": lambda body: session.compare(_key(body, "recipe")),
        "cross_validate": lambda body: session.cross_validated(body.get("recipe") if isinstance(body, dict) else None),
        "cancel": lambda _: {"cancelled": session.jobs.cancel()},
        "save": lambda body: {"saved": session.save(_key(body, "form"))},
    }
    routes = [Route("/", _page, methods=["GET"]), Route("/static/{path:path}", _static, methods=["GET"])]
    routes.append(Route("/favicon.ico", _no_icon, methods=["GET"]))
    routes += [Route(f"/api/{name}", _reading(what), methods=["GET"]) for name, what in read.items()]
    routes += [Route(f"/api/{name}", _writing(what), methods=["POST"]) for name, what in write.items()]
    routes.append(Route("/api/events", _events(session), methods=["GET"]))
    routes.append(Route("/api/take/{form}", _taking(session), methods=["GET"]))
    return Starlette(routes=routes)


def _then_state(session: Session, change: Callable[[], None]) -> dict[str, Any]:
    change()
    return session.state()


# --- requests ---------------------------------------------------------------------------------------------------------


def _reading(what: Callable[[Any], Any]) -> Callable[[Request], Any]:
    @_answered
    async def endpoint(request: Request) -> Any:
        return await run_in_threadpool(_worked, what, request.query_params)

    return endpoint


def _writing(what: Callable[[Any], Any]) -> Callable[[Request], Any]:
    @_answered
    async def endpoint(request: Request) -> Any:
        try:
            body = json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError) as error:
            raise DataError(f"the request is not JSON: {error}") from error
        return await run_in_threadpool(_worked, what, body)

    return endpoint


def _worked(what: Callable[[Any], Any], given: Any) -> Any:
    """Do the work; after much of it, give freed memory back."""
    begun = time.thread_time()
    try:
        return what(given)
    finally:
        if time.thread_time() - begun > _MUCH:
            give_back()


def _answered(endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """Respond with JSON; an error of the user has its remedy, and changes nothing."""

    @wraps(endpoint)
    async def respond(request: Request) -> Response:
        try:
            return _json(await endpoint(request), 200)
        except CancelledError as error:
            return _json({"error": str(error), "cancelled": True}, 409)
        except (TreewrightError, RecursionError, MemoryError) as error:
            return _json({"error": with_page_words(str(error)) or type(error).__name__}, 422)
        except OSError as error:
            return _json({"error": f"{error.filename or 'file'}: {error.strerror or error}"}, 422)

    return respond


def _json(value: Any, status: int) -> Response:
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return Response(text, status, media_type="application/json")


def _node(query: Any) -> int:
    return _count(query, "node", 0)


def _count(query: Any, name: str, default: int) -> int:
    text = query.get(name, str(default))
    if not text.isdecimal() or len(text) > 12:
        raise DataError(f"{name} must be a whole number, not {text!r}")
    return int(text)


def _text(query: Any, name: str) -> str:
    found: str | None = query.get(name)
    if not found:
        raise DataError(f"the request names no {name}")
    return found


def _flag(query: Any, name: str) -> bool:
    return bool(query.get(name) == "1")


def _key(body: Any, name: str) -> Any:
    if not isinstance(body, dict) or name not in body:
        raise DataError(f"the request names no {name}")
    return body[name]


def _split(body: Any) -> Split:
    edit = Edit.from_dict(body)
    if not isinstance(edit, Split):
        raise DataError("only a split can be tried")
    return edit


# --- files and events -------------------------------------------------------------------------------------------------


async def _page(_request: Request) -> Response:
    return Response(_file("interactive", "page/studio.html"), media_type="text/html; charset=utf-8")


async def _no_icon(_request: Request) -> Response:
    return Response(status_code=204)


async def _static(request: Request) -> Response:
    """Serve the page's own files; a path is compared with what is there and never opened as such."""
    path = request.path_params["path"]
    if path == "export/route.js":
        return Response(router_source(), media_type="text/javascript; charset=utf-8")
    folder, _, rest = path.partition("/")
    parts = rest.split("/")
    ending = rest[rest.rfind(".") :]
    safe = folder in _FOLDERS and parts[0] == "page" and ending in _KINDS and all(p.strip(".") for p in parts)
    if not safe or not all(c.isalnum() or c in "_./" for c in rest):
        return Response("there is no such file\n", 404, media_type="text/plain")
    try:
        return Response(_file(folder, rest), media_type=f"{_KINDS[ending]}; charset=utf-8")
    except (FileNotFoundError, IsADirectoryError):
        return Response("there is no such file\n", 404, media_type="text/plain")


def _file(folder: str, path: str) -> bytes:
    return files(_FOLDERS[folder]).joinpath(*path.split("/")).read_bytes()


def _taking(session: Session) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        try:
            made = await run_in_threadpool(session.taken, request.path_params["form"])
        except TreewrightError as error:
            return _json({"error": with_page_words(str(error))}, 422)
        name = made.name.encode("ascii", "replace").decode().replace("?", "-")
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return Response(made.content, media_type="application/octet-stream", headers=headers)

    return endpoint


def _events(session: Session) -> Callable[[Request], Any]:
    async def endpoint(_request: Request) -> Response:
        return StreamingResponse(_stream(session), media_type="text/event-stream")

    return endpoint


async def _stream(session: Session) -> AsyncIterator[str]:
    loop, queue = asyncio.get_running_loop(), asyncio.Queue[dict[str, Any]]()

    def listener(event: dict[str, Any]) -> None:
        loop.call_soon_threadsafe(queue.put_nowait, event)

    with session.jobs.listening(listener):
        yield ": open\n\n"
        while not session.jobs.closing.is_set():
            try:
                event = await asyncio.wait_for(queue.get(), _PATIENCE)
                yield f"data: {json.dumps(event)}\n\n"
            except TimeoutError:
                yield ":\n\n"  # says that the studio is still there, and finds out whether the page is
