"""Check one case, make a failing one smaller, and keep it in the corpus."""

from __future__ import annotations

import dataclasses
import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from fuzz_cases import PLAIN, Case
from fuzz_checks import check_light, check_pages, check_partitions, check_views
from fuzz_exports import check_exports
from fuzz_fits import check_judgements, check_optimal

import treewright as tw

#: Seconds to look for a smaller case.
PATIENCE = 60


def check_case(case: Case, seed: int = 0) -> None:
    """Every check of a case; the dear ones for some seeds, from a tenth (partitions, views) to a 50th."""
    tree = check_light(case)
    if seed % 10 == 0:
        check_partitions(case)
    if seed % 20 == 3:
        check_optimal(case)
    if tree is None:
        return
    if seed % 10 == 5:
        check_views(case, tree)
    if seed % 50 == 7:
        check_exports(case, tree)
    if seed % 50 == 13:
        check_pages(case, tree)
    if seed % 50 == 21:
        check_judgements(case, tree)


def check_all(case: Case) -> None:
    """Every check, whatever the seed."""
    for seed in (0, 3, 5, 7, 13, 21):
        check_case(case, seed)


def smaller(case: Case) -> Iterator[Case]:
    """Cases with less in them, the largest steps first."""
    size = case.n_rows // 2
    while size >= 1:
        for start in range(0, case.n_rows, size):
            yield case.take([i for i in range(case.n_rows) if not start <= i < start + size])
        size //= 2
    for name in case.columns:
        if name not in (case.target, case.options.get("weight")):
            yield case.without(name)
    for name in case.options:
        yield dataclasses.replace(case, options={k: v for k, v in case.options.items() if k != name})
    if case.form != "dict":
        yield dataclasses.replace(case, form="dict")
    for field in dataclasses.fields(tw.Recipe):
        if getattr(case.recipe, field.name) != getattr(PLAIN, field.name):
            try:
                recipe = dataclasses.replace(case.recipe, **{field.name: getattr(PLAIN, field.name)})
            except tw.RecipeError:
                continue
            yield dataclasses.replace(case, recipe=recipe)


def failure(case: Case) -> str | None:
    """What is wrong with a case, if anything."""
    from fuzz_run import signature

    try:
        check_all(case)
    except Exception as error:  # noqa: BLE001  # any exception that is not a refusal is a finding
        return signature(error)
    return None


def shrunk(case: Case) -> Case:
    """The smallest case found that fails in the same way."""
    wrong, until, found = failure(case), time.monotonic() + PATIENCE, True
    while found and time.monotonic() < until:
        found = False
        for less in smaller(case):
            if time.monotonic() > until:
                break
            if less != case and failure(less) == wrong:
                case, found = less, True
                break
    return case


def keep(kind: str, seed: int, folder: Path, *, shrink: bool) -> Path:
    """Write the case of a seed to the corpus, as small as it gets; a case that ends the process stays as it is."""
    if kind == "tables":
        from fuzz_tables import random_case

        case = random_case(seed)
        text, suffix = (shrunk(case) if shrink else case).to_json().encode(), ".json"
    else:
        from fuzz_files import random_file, shrunk_file

        file = random_file(seed)
        file = shrunk_file(file) if shrink else file
        text, suffix = file.content, f".{file.format}"
    path = folder / (hashlib.sha256(text).hexdigest()[:12] + suffix)
    path.write_bytes(text)
    return path
