"""Requests that the studio accepts: of one browser, which showed the token once, from a page of the studio itself.

A page of another site, a name that points here (DNS rebinding), another user of the machine and a guessed token are all
refused before any route is looked at.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

#: Everything comes from here; no inline script, no inline style, no frame, no plug-in, no other site.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
#: A larger body than this is no edit.
MOST_BYTES = 1_000_000

#: The page that the token opens: it goes on to the studio by itself, so that the browser sends the cookie along
#: (after a redirect from another site it would not), and leaves no token in the address.
_ENTER = b"""<!doctype html><html lang="en"><head><meta charset="utf-8"><title>treewright studio</title>
<meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">Open the studio</a></p></body></html>"""


class Guard:
    """The application behind a lock.

    Parameters
    ----------
    app : ASGI application
        What is guarded.
    port : int
        The port it is served at; with 127.0.0.1 or localhost it is the only host accepted.
    """

    def __init__(self, app: App, port: int) -> None:
        self._app, self._hosts = app, {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._cookie_name = f"treewright-studio-{port}"  # cookies do not know ports
        self._cookie = secrets.token_urlsafe(32)
        self._token: str | None = None

    def new_token(self) -> str:
        """Return a token that opens the studio once; an earlier one that was not used no longer does."""
        self._token = secrets.token_urlsafe(32)
        return self._token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if headers.get("host", "") not in self._hosts:
            await _refuse(send, 421, "this studio is at 127.0.0.1 and localhost only")
        elif scope["path"] == "/" and b"token=" in scope["query_string"]:
            await self._enter(scope, send)
        elif not self._knows(headers):
            await _refuse(send, 403, "open the studio by the address that was printed when it started")
        elif (why := _foreign(scope["method"], headers)) is not None:
            await _refuse(send, 403, why)
        else:
            await self._app(scope, receive, _with_headers(send))

    async def _enter(self, scope: Scope, send: Send) -> None:
        """Exchange the token for the cookie, once."""
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if self._token is None or not hmac.compare_digest(given.encode(), self._token.encode()):
            await _refuse(send, 403, "this token is not valid, or was used before; restart the studio for a new one")
            return
        self._token = None
        cookie = f"{self._cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 200, _ENTER, "text/html; charset=utf-8", {"set-cookie": cookie})

    def _knows(self, headers: dict[str, str]) -> bool:
        try:
            jar = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        found = jar.get(self._cookie_name)
        return found is not None and hmac.compare_digest(found.value.encode(), self._cookie.encode())


def _foreign(method: str, headers: dict[str, str]) -> str | None:
    """Return why a request does not come from the studio's own page; None if it does."""
    site = headers.get("sec-fetch-site")
    if site not in (None, "same-origin", "none"):
        return "requests of other sites are refused"
    if method in ("GET", "HEAD"):
        return None
    if headers.get("origin") != f"http://{headers['host']}":
        return "changes are taken from the studio's own page only"
    if not headers.get("content-type", "").startswith("application/json"):
        return "changes are sent as JSON"
    length = headers.get("content-length", "")
    if not length.isdigit() or int(length) > MOST_BYTES:
        return f"a change is at most {MOST_BYTES} bytes long"
    return None


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, why: str) -> None:
    await _answer(send, status, f"Refused: {why}.\n".encode(), "text/plain; charset=utf-8", {})


async def _answer(send: Send, status: int, body: bytes, kind: str, more: dict[str, str]) -> None:
    headers = {"content-type": kind, "content-length": str(len(body)), **HEADERS, **more}
    written = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": written})
    await send({"type": "http.response.body", "body": body})
