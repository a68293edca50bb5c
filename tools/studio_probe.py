"""Open a studio and ask it, over HTTP, for its page and everything that the page loads; runs beside an installed wheel.

Usage: python studio_probe.py FILES, where FILES lists the page's own files, one per line, as `folder/page/...`.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
from pathlib import Path, PurePosixPath
from posixpath import normpath


def ask(host: str, path: str, cookie: str = "") -> tuple[http.client.HTTPMessage, bytes]:
    """Return the headers and the body of what lies at a path; anything but 200 is an error."""
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", path, headers={"Cookie": cookie})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status} {body[:200]!r}")
    return answer.headers, body


def loaded(host: str, cookie: str) -> set[str]:
    """Return the paths of everything that the page loads, its modules followed from import to import."""
    _, page = ask(host, "/", cookie)
    waiting = re.findall(r'(?:src|href)="(/static/[^"]+)"', page.decode())
    found: set[str] = set()
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        headers, body = ask(host, path, cookie)
        if "javascript" in headers["content-type"]:
            names = re.findall(r'^(?:import|export)\b[^;]*?from "([^"]+)"', body.decode(), re.MULTILINE)
            waiting += [normpath(str(PurePosixPath(path).parent / name)) for name in names if name.startswith(".")]
    return found


def main() -> None:
    """Open a studio, look at all of it, and grow a tree."""
    import treewright as tw

    table = {"age": [20, 25, 40, 60] * 10, "buys": ["no", "no", "yes", "yes"] * 10}
    wanted = {f"/static/{line}" for line in Path(sys.argv[1]).read_text().split() if line.startswith("interactive/")}
    with tw.studio(table, "buys", folder=None, open_page=False) as studio:
        host = studio.url.split("/")[2]
        cookie = ask(host, studio.url.split(host)[1])[0]["set-cookie"].split(";")[0]
        found = loaded(host, cookie)
        lacking = sorted(path for path in wanted if path not in found and not path.endswith(".html"))
        if lacking:
            raise SystemExit(f"the page does not load {', '.join(lacking)}")
        splits = json.loads(ask(host, "/api/splits?node=0", cookie)[1])["splits"]
    sys.stdout.write(f"the studio serves its page and {len(found)} files, and splits on {splits[0]['column']!r}\n")


if __name__ == "__main__":
    main()
