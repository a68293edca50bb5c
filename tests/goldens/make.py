"""Makes tests/goldens/<data set>.json from ../shared/oracles: the data and what other tree programs made of it.

A file depends on nothing but the oracles, so making it twice gives the same bytes; it holds only what the tests
compare.

Run: python tests/goldens/make.py [ORACLES] [--check]

The form written: `columns` (name, kind, levels), `target`, `task`, `data` (per column: numbers, or places in
`levels`; null is missing) and `goldens`, one per program and variant. Left out of every golden: print-outs,
importance. A golden that equals another one of the same data set says `same_as`. Of a C4.5 tree the double precision
result is taken where there is one, of a CHAID tree the `.exact` one (`from` names the file). C4.5's `c5.unpruned` is
`default.unpruned`: -c changes pruning only. J48's `rep` is left out: chance decides it.

A node has `dist` (weight per class) or `n`, `mean`, `dev`; `n` only where it is not the sum of `dist`; `empty` where
no training row went; `answer`, the class it predicts, where it is empty (null: Id3 gives none) or predicts another
class than the first of the most frequent ones; `probabilities` where they are not the shares of `dist`. C4.5 prints a
class at every node, but predicts by it at empty leaves only and by counts elsewhere: a raised node with a tie keeps
the class printed before, which decides nothing and is left out. A split has `column`, and `cut` and `low` (place of
the child below the cut) and `closed` (the cut itself belongs to the lower child), or `groups` (levels per child), or
`bins` (CHAID: per child, counted from 1; the golden's `bins` has their upper ends).
"""

from __future__ import annotations

import csv
import json
import math
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ORACLES = HERE.parents[2] / "shared" / "oracles"

#: What a golden says of itself even where its result is that of another.
OWN = ("from", "program", "options", "pruned")


def kept(files: list[str]) -> dict[str, str]:
    """Golden name -> file, for the goldens that are compared."""
    chosen: dict[str, str] = {}
    for file in sorted(files):
        name = file.removesuffix(".json")
        exact = name.endswith((".f64", ".exact"))
        base = name.removesuffix(".f64").removesuffix(".exact")
        wanted = (
            base == "weka.id3"
            or (base.startswith("weka.j48.") and base != "weka.j48.rep")
            or (base.startswith("c45.") and base != "c45.c5.unpruned")
            or base.startswith(("rpart.", "sklearn.", "chaidr."))
        )
        if wanted and (exact or base not in chosen):
            chosen[base] = file
    return chosen


# --- splits -----------------------------------------------------------------------------------------------------------


def branching(split: dict[str, Any], branches: list[dict[str, Any]]) -> dict[str, Any]:
    """The test of a split, from the branches of its children."""
    column = {"column": split["feature"]}
    if branches[0]["op"] == "in":
        groups: dict[str, Any] = {"groups": [branch["values"] for branch in branches]}
    else:
        operators = [branch["op"] for branch in branches]
        low = next(place for place, operator in enumerate(operators) if operator in ("<", "<="))
        groups = {"cut": branches[low]["value"], "low": low, "closed": operators[low] == "<="}
    return column | groups


def side(split: dict[str, Any]) -> dict[str, Any]:
    """The test of an rpart competitor or surrogate: `left` is what goes to the first child."""
    if split["kind"] == "threshold":
        test = {"cut": split["threshold"], "low": 0 if split["left"] == "<" else 1, "closed": False}
    else:
        test = {"groups": [split["left"], split["right"]]}
    figures = {key: split[key] for key in ("improve", "agree", "adj") if key in split}
    return {"column": split["feature"]} | test | figures


def chaid_test(candidate: dict[str, Any]) -> dict[str, Any]:
    """Statistic, degrees of freedom, natural logarithm of p, multiplier. `log_p` is null where p is 0 by underflow."""
    log_p = candidate.get("log_p", math.log(candidate["p"]) if candidate["p"] > 0 else None)
    statistic = next(candidate[key] for key in ("chi2", "g2", "F") if key in candidate)
    return {"statistic": statistic, "dof": candidate["dof"], "log_p": log_p, "multiplier": candidate["multiplier"]}


def chaid_groups(groups: list[dict[str, Any]]) -> dict[str, Any]:
    """The groups of a CHAID split or candidate, and which of them takes missing values."""
    missing = next((place for place, group in enumerate(groups) if group.get("missing")), None)
    part = "bins" if any("bins" in group for group in groups) else "values"
    key = "bins" if part == "bins" else "groups"
    return {key: [group.get(part, []) for group in groups], "missing": missing}


# --- nodes ------------------------------------------------------------------------------------------------------------


def size(node: dict[str, Any], program: str, classes: list[str] | None) -> dict[str, Any]:
    """What is at the node."""
    if classes is None:
        return {key: node[key] for key in ("n", "mean", "dev", "sd") if key in node} | (
            {} if "mean" in node else {"mean": node["prediction"]}
        )
    out: dict[str, Any] = {"dist": node["dist"]}
    if abs(sum(node["dist"]) - node["n"]) > 1e-9 * max(1.0, abs(node["n"])):
        out["n"] = node["n"]
    label = None if node["prediction"] is None else classes.index(node["prediction"])
    if node.get("empty") or node["n"] == 0:
        out["empty"] = True
        out["answer"] = label
    elif label != node["dist"].index(max(node["dist"])) and not (program == "C4.5" and _is_tied(node["dist"], label)):
        out["answer"] = label
    if "probabilities" in node:
        out["probabilities"] = node["probabilities"]
    return out


def _is_tied(dist: list[float], label: int | None) -> bool:
    return label is not None and dist[label] == max(dist)


def reduced(node: dict[str, Any], program: str, classes: list[str] | None) -> dict[str, Any]:
    """A node and all below it, in our form."""
    out = size(node, program, classes)
    if program == "rpart":
        out["dev"] = node["dev"]
    if "split" not in node:
        return out | ({"stop": node["stop"]} if "stop" in node else {})
    split = node["split"]
    branches = [child["branch"] for child in node["children"]]
    if program == "chaidr":
        own = {"column": split["feature"]} | chaid_groups(branches) | chaid_test(split)
        own["missing"] = split["missing"]["child"]
        own["missing_how"] = split["missing"]["how"]
    else:
        own = branching(split, branches)
    if program == "J48":
        own |= {"gain": split["gain"], "gain_ratio": split["gain_ratio"]}
        own |= {"shares": split["missing_weights"]} if "missing_weights" in split else {}
    elif program == "rpart":
        own["improve"] = split["improve"]
        if "majority" in split:  # only sets with missing values list surrogates at every node
            own["surrogates"] = [side(surrogate) for surrogate in split.get("surrogates", [])]
    out["split"] = own
    out["children"] = [reduced(child, program, classes) for child in node["children"]]
    return out


# --- goldens ----------------------------------------------------------------------------------------------------------


def too_small(candidate: dict[str, Any], source: dict[str, Any], data: dict[str, list[Any]]) -> bool:
    """Whether one of a CHAID candidate's groups has fewer rows than a child may have."""
    column = candidate["feature"]
    ends = source.get("bins", {}).get(column)
    sizes = [0] * len(candidate["groups"])
    others = [name for name in data if name != source["target"]]
    for row, value in enumerate(data[column]):
        if all(data[name][row] is None for name in others):
            continue  # not used
        label = value if ends is None or value is None else 1 + sum(end < value for end in ends)
        for place, group in enumerate(candidate["groups"]):
            if group.get("missing", False) if label is None else label in group.get("bins", group.get("values", [])):
                sizes[place] += 1
    return min(sizes) < source["oracle"]["options"]["min_child"]


def golden(source: dict[str, Any], file: str, data: dict[str, list[Any]]) -> dict[str, Any]:
    """One golden in our form. `data`: the columns, with levels as text."""
    program = source["oracle"]["program"]
    out: dict[str, Any] = {"from": file, "program": program.split()[0], "options": source["oracle"]["options"]}
    if program == "C4.5":
        out["pruned"] = source["oracle"]["tree"] == "pruned"
        out["single_precision"] = source["oracle"]["build"].startswith("single")
    if program.startswith("scikit-learn"):
        # Depths where seeds disagree are a matter of luck, so nothing can be compared there.
        keys = ("max_depth", "impurity", "leaves")
        out["curve"] = [[step[key] for key in keys] for step in source["depth_curve"] if step["seed_invariant"]]
        path = source["ccp_path"]
        if path["seed_invariant"]:
            out["ccp_path"] = [list(step) for step in zip(path["ccp_alphas"], path["impurities"], strict=True)]
        return out
    out["nodes"] = source["summary"]["nodes"]
    if program == "rpart":
        steps = source.get("cptable_merged", source["cptable"])
        out["cptable"] = [[step[key] for key in ("CP", "nsplit", "rel_error")] for step in steps]
        root = source["root"]
        out["root"] = {key: [side(split) for split in root.get(key, [])] for key in ("competitors", "surrogates")}
    if program == "chaidr":
        out["bins"] = source.get("bins", {})
        candidates = source["root_candidates"]  # a sentence, where the root was not tested
        out["candidates"] = [
            {"column": candidate["feature"], "too_small": too_small(candidate, source, data)}
            | chaid_groups(candidate["groups"])
            | chaid_test(candidate)
            for candidate in (candidates if isinstance(candidates, list) else [])
        ]
        out["ties_decide"] = source["ties"]["tree_depends"]
    out["tree"] = reduced(source["tree"], program, source.get("classes"))
    out["predictions"] = source["train_predictions"]
    return out


def number(text: str) -> float | int:
    value = float(text)
    return int(value) if value == int(value) and abs(value) < 2**53 else value


def data_set(folder: Path) -> dict[str, Any]:
    """One data set with all its goldens."""
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    with (folder / "data.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    columns, values, data = [], {}, {}
    for column in schema["columns"]:
        name, levels = column["name"], column.get("categories")
        columns.append({"name": name, "kind": column["kind"]} | ({"levels": levels} if levels else {}))
        place = {level: code for code, level in enumerate(levels or [])}
        values[name] = [None if row[name] == "" else row[name] if levels else number(row[name]) for row in rows]
        data[name] = [place.get(value, value) for value in values[name]] if levels else values[name]
    goldens: dict[str, Any] = {}
    seen: dict[str, str] = {}
    for name, file in kept([path.name for path in folder.glob("*.json") if path.name != "schema.json"]).items():
        reading = golden(json.loads((folder / file).read_text(encoding="utf-8")), file, values)
        result = {key: value for key, value in reading.items() if key not in OWN}
        first = seen.setdefault(json.dumps(result), name)
        if first != name:
            reading = {key: value for key, value in reading.items() if key in OWN} | {"same_as": first}
        goldens[name] = reading
    head = {"name": schema["name"], "source": schema["source"], "task": schema["task"], "target": schema["target"]}
    return head | {"columns": columns, "data": data, "goldens": goldens}


# --- writing ----------------------------------------------------------------------------------------------------------


def short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def written_node(node: dict[str, Any], indent: int) -> str:
    """One node per line, children below their parent: a change of a tree is a change of a few lines."""
    own = short({key: value for key, value in node.items() if key != "children"})
    if "children" not in node:
        return own
    lines = (",\n" + " " * (indent + 1)).join(written_node(child, indent + 1) for child in node["children"])
    return f'{own[:-1]},"children":[\n{" " * (indent + 1)}{lines}]}}'


def written_golden(value: dict[str, Any]) -> str:
    fields = [f'"{key}":{written_node(part, 1) if key == "tree" else short(part)}' for key, part in value.items()]
    return "{" + ",\n ".join(fields) + "}"


def written(whole: dict[str, Any]) -> str:
    """The file: one column or one golden's field per line."""
    parts = []
    for key, value in whole.items():
        if key in ("data", "goldens"):
            write = short if key == "data" else written_golden
            inside = ",\n".join(f"{short(name)}:{write(part)}" for name, part in value.items())
            parts.append(f'"{key}":{{\n{inside}}}')
        else:
            parts.append(f'"{key}":{short(value)}')
    return "{" + ",\n".join(parts) + "}\n"


def made(oracles: Path = ORACLES) -> dict[str, str]:
    """File name -> text, for every data set."""
    folders = sorted(path.parent for path in oracles.glob("*/schema.json"))
    return {f"{folder.name}.json": written(data_set(folder)) for folder in folders}


def main(arguments: list[str]) -> int:
    folders = [Path(argument) for argument in arguments if not argument.startswith("-")]
    files = made(folders[0] if folders else ORACLES)
    if "--check" in arguments:
        stale = [
            name
            for name, text in files.items()
            if not (HERE / name).exists() or (HERE / name).read_text(encoding="utf-8") != text
        ]
        print("\n".join(stale) or "all files are as made")
        return 1 if stale else 0
    for name, text in files.items():
        (HERE / name).write_text(text, encoding="utf-8", newline="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
