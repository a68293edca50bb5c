"""Start the studio: bind to this machine, open the page, serve until it is closed."""

from __future__ import annotations

import socket
import threading
import time
import webbrowser
from os import PathLike
from pathlib import Path
from typing import Any, Self

from treewright.editing.edits import Edit
from treewright.errors import DataError
from treewright.interactive.session import Session
from treewright.interactive.start import Start
from treewright.interactive.table import TableOrigin, origin_of
from treewright.recipes.named import CART, named_recipe
from treewright.recipes.recipe import Recipe
from treewright.tree.tree import Tree

_NEEDED = "the studio needs starlette and uvicorn: pip install 'treewright[studio]'"


class Studio:
    """A studio that is served; `tree` is the tree as it is now.

    Attributes
    ----------
    url : str
        The address with a token; it opens the page once.
    """

    def __init__(self, session: Session, port: int = 0) -> None:
        try:
            import uvicorn

            from treewright.interactive.guard import Guard
            from treewright.interactive.routes import application
        except ImportError as error:
            raise DataError(_NEEDED) from error
        self._session = session
        # With the protocol named, asyncio sends responses at once instead of waiting for acknowledgements.
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.bind(("127.0.0.1", port))
        self._socket.listen(128)  # a request that comes before the server runs waits and is not refused
        self._port = self._socket.getsockname()[1]
        self._guard = Guard(application(session), self._port)
        self.url = f"http://127.0.0.1:{self._port}/?token={self._guard.new_token()}"
        config: Any = uvicorn.Config(
            self._guard, log_level="error", access_log=False, lifespan="off", timeout_graceful_shutdown=1,
            server_header=False,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        leave = self._server.handle_exit

        def handle_exit(*signal: Any) -> None:
            session.jobs.closing.set()
            leave(*signal)

        self._server.handle_exit = handle_exit  # type: ignore[assignment, method-assign]
        self._thread: threading.Thread | None = None

    @property
    def tree(self) -> Tree:
        """The tree as it is now."""
        return self._session.snapshot.tree

    @property
    def continued(self) -> int:
        """The number of steps of an earlier session that this one goes on from."""
        return self._session.continued

    @property
    def log(self) -> tuple[Edit, ...]:
        """The edits that made it, for `tw.edit.replay`."""
        return self._session.snapshot.log

    def run(self) -> None:
        """Serve until Ctrl-C."""
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._session.close()

    def start(self) -> None:
        """Serve in the background."""
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.01)

    def new_url(self) -> str:
        """Return another address that opens the page once."""
        return f"http://127.0.0.1:{self._port}/?token={self._guard.new_token()}"

    def close(self) -> None:
        """End the server; what was done is in the journal."""
        self._session.jobs.closing.set()
        self._server.should_exit = True
        if self._thread is not None:
            self._thread.join(10)
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        return f'<a href="{self.new_url()}" target="_blank" rel="noopener">Open the studio</a>'


def studio(
    data: object,
    target: str,
    recipe: Recipe | str = CART,
    *,
    held_out: object = None,
    holdout: float | None = 0.25,
    weight: str | None = None,
    kinds: Any = None,
    folder: str | PathLike[str] | None = ".",
    port: int = 0,
    open_page: bool = True,
) -> Studio:
    """Open a page on this machine where a tree is grown by hand.

    Needs `pip install 'treewright[studio]'`.

    Parameters
    ----------
    data : table
        The rows, as for `learn`; they must fit in memory.
    target : str
        The name of the target column.
    recipe : Recipe or str, default=CART
        How splits are ranked and subtrees grown.
    held_out : table, optional
        Rows that score the tree; by default a share of `data` is held out.
    holdout : float or None, default=0.25
        That share. None: no row is held out.
    weight : str, optional
        The column with the weights of the rows.
    kinds : dict, optional
        Kinds of columns, as for `learn`.
    folder : str, PathLike or None, default="."
        Where the journal and saved files go; a journal that is there is continued. None saves nothing.
    port : int, default=0
        The port; 0 takes a free one.
    open_page : bool, default=True
        Open the page in the browser.

    Returns
    -------
    Studio
        `tree` is the tree as it is now; `close()` ends it.

    Examples
    --------
    >>> import treewright as tw
    >>> table = {"age": [20, 25, 40, 60], "buys": ["no", "no", "yes", "yes"]}
    >>> with tw.studio(table, "buys", holdout=None, folder=None, open_page=False) as studio:
    ...     studio.tree.n_nodes
    1
    """
    start = Start(
        target, named_recipe(recipe), weight, dict(kinds or {}), holdout=holdout if held_out is None else None
    )
    made = opened(origin_of(data, held_out), start, None if folder is None else Path(folder), port)
    made.start()
    if open_page:
        webbrowser.open(made.url)
    return made


def opened(source: TableOrigin, start: Start, folder: Path | None, port: int, *, new: bool = False) -> Studio:
    """Return a studio, ready to be served; `new`: an earlier journal is set aside and not continued."""
    if folder is not None and not folder.is_dir():
        raise DataError(f"there is no folder {str(folder)!r} to save to")
    session = Session(source, start, folder, new=new)
    try:
        return Studio(session, port)
    except BaseException:
        session.close()
        raise
