"""Who may come in: whom the address, the token, and the browser's own word of where the page is from allow.

On loopback a web page of a stranger's could still reach the server through the browser of whoever runs it: by a name that resolves to
127.0.0.1 (DNS rebinding), or by opening a socket across sites. Therefore the Host must be an address or a name that is ours, and the Origin of a
socket the very host that it connects to.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from worldwright.errors import WorldwrightError

SHORTEST_TOKEN = 16


def is_loopback(host: str) -> bool:
    """Whether an address to listen on is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def token_for(host: str, given: str | None) -> str | None:
    """The token to ask for: none on loopback unless one is given; elsewhere that which is given, or a fresh one. Raises WorldwrightError for one
    that is easily guessed."""
    if given is not None and (
        len(given) < SHORTEST_TOKEN or not given.isascii() or not given.replace("-", "").replace("_", "").isalnum()
    ):
        raise WorldwrightError(
            f"a token of {len(given)} characters",
            where="--token",
            fix=f"at least {SHORTEST_TOKEN} letters, digits, - and _; or leave it out: one is made",
        )
    if given is None and not is_loopback(host):
        return secrets.token_urlsafe(18)
    return given


@dataclass(frozen=True)
class Guard:
    """``token``: what a visitor must show, None: nothing. ``names``: hosts by which the server may be called, besides addresses and localhost."""

    token: str | None
    names: frozenset[str]

    @classmethod
    def of(cls, host: str, token: str | None, names: tuple[str, ...] = ()) -> Guard:
        """The guard of a server that listens on ``host``."""
        own = {host.lower(), *(name.lower() for name in names)}
        if not is_loopback(host):
            own.add(socket.gethostname().lower())
        return cls(token, frozenset(own))

    def refuses(self, headers: Mapping[str, str], given: str | None, *, opening_socket: bool) -> str | None:
        """Why a request is refused, in a line; None: it may come in."""
        host = headers.get("host", "")
        if not self._ours(host):
            return f"this server is not called {host[:80]!r}; name it with --name"
        origin = headers.get("origin")
        if opening_socket and origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return "a page of another site may not play here"
        if self.token is not None and not hmac.compare_digest(self.token.encode(), (given or "").encode(errors="replace")):
            return "the token is missing or wrong: open the whole address that worldwright serve printed"
        return None

    def _ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name == "localhost" or name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # an address names no site: a name that was bound to ours would stand here itself
