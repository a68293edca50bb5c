"""Settings added after a file was written: the file loads, and means what it meant."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from test_saved import FORM, KNOWN, VALIDATOR, changed
from test_saved_versions import FORMAT_PAGE, HERE, KEPT, arrow, pa

import treewright as tw
from treewright import recipes as r
from treewright.errors import FileError
from treewright.export import from_json, to_json
from treewright.recipes import recipe as recipe_module
from treewright.recipes.saved_names import ADDED_SETTINGS, saved_setting

#: Choice -> its settings in the first files that had it. A new choice gets a line; a line never changes: a new setting
#: goes into ADDED_SETTINGS.
FIRST = json.loads((HERE / "saved" / "version-1-settings.json").read_text(encoding="ascii"))
CART_FILE = HERE / "saved" / "version-1" / "cart.json"


def settings_of(choice: str) -> list[str]:
    kind = r.Recipe if choice == "Recipe" else KNOWN[choice]
    return [saved_setting(kind, f.name) for f in dataclasses.fields(kind)]


def settings_in(written: dict[str, Any]) -> dict[str, set[str]]:
    """Choice -> the settings that a written recipe has."""
    choices = {value["choice"]: set(value) - {"choice"} for value in written.values() if isinstance(value, dict)}
    return choices | {"Recipe": set(written)}


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_setting_that_a_kept_file_lacks_is_in_the_table(path: Path) -> None:
    for choice, present in settings_in(json.loads(path.read_text(encoding="ascii"))["recipe"]).items():
        assert set(settings_of(choice)) - present <= set(ADDED_SETTINGS.get(choice, {})), choice


@pytest.mark.parametrize("choice", ["Recipe", *sorted(KNOWN)])
def test_every_setting_since_the_first_files_is_in_the_table(choice: str) -> None:
    """Kept files use few of the pruners; this covers every choice."""
    first = FIRST.get(choice)
    assert first is not None, "a new choice: add a line with its settings to tests/saved/version-1-settings.json"
    assert set(first) <= set(settings_of(choice)), "a setting of version 1 is gone; old files have it"
    added = set(settings_of(choice)) - set(first)
    assert added <= set(ADDED_SETTINGS.get(choice, {})), "old files lack it: add it to saved_names.ADDED_SETTINGS"


def test_every_choice_of_the_first_files_is_still_known() -> None:
    assert set(FIRST) <= {"Recipe", *KNOWN}


def test_the_table_names_settings_that_exist_and_the_page_names_them() -> None:
    page = FORMAT_PAGE.read_text(encoding="utf-8")
    for choice, added in ADDED_SETTINGS.items():
        assert set(added) <= set(settings_of(choice))
        form = FORM["properties"]["recipe"] if choice == "Recipe" else FORM["$defs"][choice]
        for setting, value in added.items():
            assert f"| `{choice}` | `{setting}` |" in page
            jsonschema.Draft202012Validator({**form["properties"][setting], "$defs": FORM["$defs"]}).validate(value)


def test_a_file_from_before_pruning_was_not_pruned() -> None:
    text = json.loads(CART_FILE.read_text(encoding="ascii"))
    del text["recipe"]["pruning"]
    VALIDATOR.validate(text)
    assert from_json(json.dumps(text)).recipe.pruning is None


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> type:
    """A later treewright: Binary has one more setting, whose default is not what was done before."""
    kind = dataclasses.make_dataclass("Binary", [("shuffle", int, 7)], bases=(r.Binary,), frozen=True)
    known = recipe_module._choices

    def choices(name: str) -> tuple[type, ...]:
        return tuple(kind if one is r.Binary else one for one in known(name))

    monkeypatch.setattr(recipe_module, "_choices", choices)
    return kind


def test_a_file_without_a_new_setting_loads_and_predicts_as_before(
    newer: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(ADDED_SETTINGS, "Binary", {"shuffle": 3})
    t = tw.load(CART_FILE)
    assert isinstance(t.recipe.branching, newer)
    assert t.recipe.as_dict()["branching"]["shuffle"] == 3  # as it was, not the default
    expected = json.loads(CART_FILE.with_name("cart.answers.json").read_text(encoding="utf-8"))
    rows = pa.table({name: arrow(form["values"], form["type"]) for name, form in expected["rows"].items()})
    assert tw.predict(t, rows).tolist() == expected["prediction"]
    assert tw.predict_proba(t, rows).tolist() == expected["probabilities"]
    assert '"shuffle": 3' in to_json(t)  # a new file holds every setting
    assert from_json(to_json(t)) == t


def test_a_new_setting_that_a_file_has_is_read(newer: type, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADDED_SETTINGS, "Binary", {"shuffle": 3})
    written = json.loads(CART_FILE.read_text(encoding="ascii"))
    written["recipe"]["branching"]["shuffle"] = 5
    assert from_json(json.dumps(written)).recipe.as_dict()["branching"]["shuffle"] == 5


def test_a_missing_setting_that_is_not_in_the_table_is_refused(newer: type) -> None:
    with pytest.raises(FileError, match=r"\$\.recipe\.branching has no 'shuffle'"):
        tw.load(CART_FILE)


def test_a_missing_setting_without_a_default_is_refused_with_its_name() -> None:
    with pytest.raises(FileError, match=r"\$\.recipe: ToDepth needs the setting 'depth'"):
        from_json(changed(("recipe", "pruning"), {"choice": "ToDepth"}))


def test_an_unknown_setting_is_refused_with_its_name() -> None:
    written = json.loads(CART_FILE.read_text(encoding="ascii"))
    written["recipe"]["branching"]["shuffle"] = 3
    with pytest.raises(FileError, match=r"\$\.recipe: Binary has no setting 'shuffle'"):
        from_json(json.dumps(written))
    with pytest.raises(FileError, match=r"\$\.recipe has the unknown key 'shuffle'"):
        from_json(changed(("recipe", "shuffle"), 3))


def test_a_field_of_the_recipe_may_be_added_too(monkeypatch: pytest.MonkeyPatch) -> None:
    written = json.loads(CART_FILE.read_text(encoding="ascii"))
    del written["recipe"]["rivals"]
    with pytest.raises(FileError, match=r"\$\.recipe has no 'rivals'"):
        from_json(json.dumps(written))
    monkeypatch.setitem(ADDED_SETTINGS, "Recipe", {**ADDED_SETTINGS["Recipe"], "rivals": 2})
    assert from_json(json.dumps(written)).recipe.rivals == 2


@pytest.mark.parametrize("key", ["costs", "priors"])
def test_a_target_without_what_is_optional_loads(key: str) -> None:
    written = json.loads((CART_FILE.parent / f"{key}.json").read_text(encoding="ascii"))
    del written["schema"]["target"][key]
    VALIDATOR.validate(written)
    assert getattr(from_json(json.dumps(written)).schema.target, key) is None
