"""Who is refused by the studio: other sites, other hosts, other users, wrong tokens; and what hostile names can do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="needs starlette, which the studio is served by")
pytest.importorskip("uvicorn", reason="needs uvicorn, which serves the studio")

from studio_cases import EVIL, Client, people

import treewright as tw
from treewright.interactive.guard import MOST_BYTES
from treewright.interactive.serve import Studio

GROW = json.dumps({"edit": "Grow", "node": 0, "levels": 1}).encode()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with tw.studio(people(), "buys", folder=tmp_path_factory.mktemp("studio"), open_page=False) as opened:
        yield opened


@pytest.fixture
def studio(running: Studio) -> Studio:
    """The one studio of this module, with a token that was not used."""
    running.url = running.new_url()
    return running


def test_it_listens_on_this_machine_alone(studio: Studio) -> None:
    assert studio._socket.getsockname()[0] == "127.0.0.1"
    assert studio.url.startswith("http://127.0.0.1:")


def test_the_token_is_exchanged_once_for_a_strict_cookie(studio: Studio) -> None:
    first = Client(studio.url, enter=False)
    answer = first.send("GET", studio.url.split(first.host)[1])
    cookie = answer.header("set-cookie")
    assert answer.status == 200
    assert "SameSite=Strict" in cookie
    assert "HttpOnly" in cookie
    token = studio.url.split("token=")[1]
    assert token not in answer.body.decode()  # the page goes on to the address without it
    assert first.send("GET", f"/?token={token}").status == 403  # a second time


@pytest.mark.parametrize(
    "path", ["/", "/api/state", "/api/events", "/api/take/tree", "/static/interactive/page/main.js"]
)
def test_another_user_without_the_token_sees_nothing(studio: Studio, path: str) -> None:
    stranger = Client(studio.url, enter=False)
    assert stranger.send("GET", path).status == 403
    wrong = {"Cookie": f"treewright-studio-{studio.url.split(':')[2].split('/')[0]}=guess"}
    assert stranger.send("GET", path, **wrong).status == 403


def test_a_wrong_token_opens_nothing_and_spends_nothing(studio: Studio) -> None:
    stranger = Client(studio.url, enter=False)
    for token in ("", "x", "%00", studio.url.split("token=")[1][:-1]):
        answer = stranger.send("GET", f"/?token={token}")
        assert answer.status == 403
        assert not answer.header("set-cookie")
    assert Client(studio.url).get("state")["undo"] == 0


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example", "[::1]", ""])
def test_a_rebinding_host_is_refused_even_with_the_cookie(studio: Studio, host: str) -> None:
    client = Client(studio.url)
    port = client.host.split(":")[1]
    names = [host] if ":" in host or not host else [host, f"{host}:{port}"] if host != "127.0.0.1" else [host]
    for name in names:
        assert client.send("GET", "/api/state", Host=name).status in (400, 421)
        assert client.send("POST", "/api/edit", GROW, **client.own() | {"Host": name}).status in (400, 421)
    assert client.send("GET", "/api/state", Host=f"localhost:{port}").status == 200
    assert client.get("state")["undo"] == 0


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": ""},
        {"Origin": "https://{host}"},
        {"Origin": "http://localhost:1"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_hostile_page_changes_nothing_even_with_the_cookie(studio: Studio, headers: dict[str, str]) -> None:
    client = Client(studio.url)
    given = {name: value.format(host=client.host) for name, value in headers.items()}
    for path in ("edit", "undo", "start", "save", "cancel", "compare"):
        assert client.send("POST", f"/api/{path}", GROW, **client.own() | given).status == 403
    assert client.get("state")["undo"] == 0


def test_a_hostile_page_reads_nothing(studio: Studio) -> None:
    client = Client(studio.url)
    answer = client.send("GET", "/api/state", Origin="http://evil.example", Sec_Fetch_Site="cross-site")
    assert answer.status == 403
    allowed = client.send("GET", "/api/state")
    assert not allowed.header("access-control-allow-origin")
    assert client.send("OPTIONS", "/api/edit", Origin="http://evil.example").status == 403


def test_every_answer_has_a_strict_policy(studio: Studio) -> None:
    client = Client(studio.url)
    stranger = Client(studio.url, enter=False)
    for answer in (client.send("GET", "/"), client.send("GET", "/api/state"), stranger.send("GET", "/")):
        policy = answer.header("content-security-policy")
        assert "default-src 'none'" in policy
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.header("x-content-type-options") == "nosniff"
        assert answer.header("referrer-policy") == "no-referrer"
        assert answer.header("cache-control") == "no-store"


def test_a_websocket_is_refused(studio: Studio) -> None:
    client = Client(studio.url)
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec_WebSocket_Version": "13",
        "Sec_WebSocket_Key": "eA==",
    }
    assert client.send("GET", "/api/events2", Origin="http://evil.example", **upgrade).status in (400, 403, 404)


@pytest.mark.parametrize(
    "path",
    [
        "interactive/../../../../etc/passwd", "..%2f..%2fetc%2fpasswd", "interactive/page/..%2f..%2fserve.py",
        "interactive/serve.py", "reporting/report.py", "interactive/page", "interactive/page/", "data/reader.py",
        "interactive/page/%2e%2e/serve.py", "interactive//etc/passwd", "interactive/page/.js",
    ],
)  # fmt: skip
def test_no_other_file_is_read(studio: Studio, path: str) -> None:
    assert Client(studio.url).send("GET", f"/static/{path}").status == 404


def test_a_name_of_a_file_never_comes_from_the_page(studio: Studio) -> None:
    folder = studio._session.folder
    assert folder is not None
    client = Client(studio.url)
    for form in ("../tree", "/etc/passwd", "tree.json", {"a": 1}, None, 7):
        client.post("save", {"form": form}, status=422)
    assert client.send("GET", "/api/take/..%2ftree").status in (404, 422)
    assert client.post("save", {"form": "tree"}) == {"saved": "table-tree.json"}
    assert sorted(path.name for path in folder.iterdir()) == ["table-tree.json", "table.studio.jsonl"]


def test_a_table_with_a_hostile_name_is_saved_in_the_folder(tmp_path: Path) -> None:
    from treewright.interactive.table import origin_of

    for name in ("../../etc/passwd", "/a/b", "..", "", "con\x00", EVIL, "a" * 500):
        stem = origin_of({}, name=name).stem
        assert stem
        assert "/" not in stem
        assert stem.strip(".") == stem
        assert len(stem) <= 60


def test_what_is_sent_is_never_code(studio: Studio) -> None:
    client = Client(studio.url)
    bad = [
        [], "x", 7, {"edit": "__import__('os').system('true')", "node": 0}, {"edit": "Grow", "node": 0, "recipe": "os"},
        {"edit": "Grow", "node": "0"}, {"edit": "Grow", "node": -1}, {"edit": "Grow", "node": 10**9}, {"node": 0},
        {"edit": "Split", "node": 0, "column": "age", "threshold": "1; import os"},
        {"edit": "Split", "node": 0, "column": "age", "threshold": [1, 1]},
        {"edit": "Split", "node": 0, "column": "__class__", "threshold": 1},
        {"edit": "Grow", "node": 0, "recipe": {"name": "x", "criterion": {"Custom": {"function": "os.system"}}}},
    ]  # fmt: skip
    for body in bad:
        assert "error" in client.post("edit", body, status=422)
    for body in ({}, {"target": 1}, {"target": "buys", "kinds": 3}, {"target": "buys", "costs": "x"}, {"x": 1}):
        assert "error" in client.post("start", body, status=422)
    broken = client.send("POST", "/api/edit", b"{" * 10_000, **client.own())
    assert broken.status == 422
    large = client.send("POST", "/api/edit", b" " * (MOST_BYTES + 1), **client.own())
    assert large.status == 403
    assert client.get("state")["undo"] == 0


def test_hostile_names_stay_text_in_every_answer(tmp_path: Path) -> None:
    table = people()
    table[EVIL] = table.pop("town")
    table[EVIL] = [EVIL + one if one == "oslo" else one for one in table[EVIL]]
    with tw.studio(table, "buys", folder=tmp_path, open_page=False) as opened:
        client = Client(opened.url)
        split = {"edit": "Split", "node": 0, "column": EVIL, "groups": [[EVIL + "oslo"]]}
        state = client.post("edit", split)
        assert state["report"]["schema"]["columns"][3]["name"] == EVIL
        arithmetic = client.get("arithmetic?node=0")["html"]
        assert "<img" not in arithmetic
        assert "<script" not in arithmetic
        assert " style=" not in arithmetic
        page = client.send("GET", "/api/take/page").body.decode()
        assert "<img src=x" not in page
        for form in state["forms"]:
            answer = client.send("GET", f"/api/take/{form}")
            assert answer.status in (200, 422)
            assert "attachment" in answer.header("content-disposition") or answer.status == 422
