"""A client of the studio that is no browser, and tables for its tests."""

from __future__ import annotations

import http.client
import json
from typing import Any

import numpy as np

EVIL = "<img src=x onerror=alert(1)>\"';drop table t;--</script><script>alert(2)</script>"


class Client:
    """Talks to a studio as its page would; `cookie` is what the token was exchanged for."""

    def __init__(self, url: str, *, enter: bool = True) -> None:
        self.host = url.split("/")[2]
        self.cookie = ""
        if enter:
            answer = self.send("GET", url.split(self.host)[1])
            assert answer.status == 200, answer.body
            self.cookie = answer.header("set-cookie").split(";")[0]

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(self.host, timeout=60)
        sent = {"Host": self.host, "Cookie": self.cookie} | {name.replace("_", "-"): v for name, v in headers.items()}
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in sent.items():
                if value:
                    connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, response.read(), response.getheaders())
        finally:
            connection.close()

    def get(self, path: str) -> Any:
        answer = self.send("GET", f"/api/{path}")
        assert answer.status == 200, (path, answer.body)
        return json.loads(answer.body)

    def post(self, path: str, body: Any = None, status: int = 200) -> Any:
        answer = self.send("POST", f"/api/{path}", json.dumps(body or {}).encode(), **self.own())
        assert answer.status == status, (path, answer.status, answer.body)
        return json.loads(answer.body)

    def own(self) -> dict[str, str]:
        """The headers of a change from the studio's own page."""
        return {"Origin": f"http://{self.host}", "Content_Type": "application/json"}


class Answer:
    def __init__(self, status: int, body: bytes, headers: list[tuple[str, str]]) -> None:
        self.status, self.body, self._headers = status, body, {name.lower(): value for name, value in headers}

    def header(self, name: str) -> str:
        return self._headers.get(name, "")


def people(rows: int = 300, seed: int = 0) -> dict[str, list[Any]]:
    """Numbers, levels, missing values and two classes; the target follows age, town and fare."""
    rng = np.random.default_rng(seed)
    age, fare = rng.integers(1, 80, rows).astype(float), rng.gamma(2, 15, rows).round(2)
    town = rng.choice(["cork", "oslo", "rome", "ulm"], rows)
    signal = (age < 30) + (town == "oslo") - fare / 60 + rng.normal(0, 0.4, rows)
    ages = [None if rng.random() < 0.1 else float(x) for x in age]
    return {
        "age": ages,
        "fare": fare.tolist(),
        "town": [str(one) for one in town],
        "noise": rng.integers(0, 3, rows).astype(float).tolist(),
        "buys": np.where(signal > 0.4, "yes", "no").tolist(),
    }
