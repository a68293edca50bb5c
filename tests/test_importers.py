"""Trees of other programs: they predict as those programs do, and every picture can be made of them."""

from __future__ import annotations

import csv
import json
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from export_cases import DATA
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

import treewright as tw
from treewright.errors import DataError, FileError
from treewright.tree.tree import Tree

ORACLES = DATA.parent / "oracles"


def looked_at(t: Tree) -> None:
    """All pictures, and the file."""
    assert str(t)
    assert tw.render.svg(t).startswith("<svg")
    assert tw.export.from_json(tw.export.to_json(t)) == t
    assert tw.export.dot(t)
    assert tw.export.nodes(t)


# --- scikit-learn -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("estimator", "load"),
    [
        (DecisionTreeClassifier(random_state=0), load_iris),
        (DecisionTreeClassifier(random_state=0, criterion="entropy", max_depth=3), load_iris),
        (ExtraTreeClassifier(random_state=0), load_iris),
        (DecisionTreeRegressor(random_state=0), load_diabetes),
        (DecisionTreeRegressor(random_state=0, criterion="absolute_error", max_depth=4), load_diabetes),
        (DecisionTreeClassifier(max_depth=1), load_iris),
    ],
    ids=lambda case: getattr(case, "__name__", str(case)),
)
@pytest.mark.parametrize("gaps", [False, True])
def test_scikit_learn(estimator: Any, load: Any, gaps: bool) -> None:
    X, y = load(return_X_y=True)
    rng = np.random.default_rng(1)
    if gaps and estimator.criterion != "absolute_error":
        X[rng.random(X.shape) < 0.1] = np.nan
    estimator.fit(X, y)
    t = tw.from_sklearn(estimator)
    assert (tw.predict(t, X) == estimator.predict(X)).all()
    assert (tw.apply(t, X) == depth_first(estimator.tree_)[estimator.apply(X)]).all()
    if t.schema.target.classes is not None:
        assert (tw.predict_proba(t, X) == estimator.predict_proba(X)).all()
    else:
        assert t.root.mean == pytest.approx(y.mean()) or estimator.criterion == "absolute_error"
    assert (t.arrays["impurity"] == np.maximum(estimator.tree_.impurity[order(estimator.tree_)], 0)).all()
    looked_at(t)


def order(inner: Any) -> np.ndarray:
    """scikit-learn's nodes, depth first."""
    found, pending = [], [0]
    while pending:
        i = pending.pop()
        found.append(i)
        if inner.children_left[i] >= 0:
            pending += [inner.children_right[i], inner.children_left[i]]
    return np.array(found)


def depth_first(inner: Any) -> np.ndarray:
    place = np.empty(inner.node_count, dtype=int)
    place[order(inner)] = np.arange(inner.node_count)
    return place


@given(st.lists(st.floats(-1e30, 1e30), min_size=2, max_size=30, unique=True), st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_every_double_goes_where_scikit_learn_sends_it(values: list[float], seed: int) -> None:
    X = np.array(values)[:, None]
    y = np.random.default_rng(seed).integers(0, 2, len(values))
    estimator = DecisionTreeClassifier(random_state=0).fit(X, y)
    t = tw.from_sklearn(estimator)
    cuts = t.arrays["breaks"]
    near = np.concatenate([X[:, 0], cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf), cuts * (1 + 1e-9)])
    assert (tw.predict_proba(t, near[:, None]) == estimator.predict_proba(near[:, None])).all()


def test_there_and_back() -> None:
    X, y = load_iris(return_X_y=True)
    estimator = DecisionTreeClassifier(random_state=0).fit(X, y)
    X[::9] = np.nan
    estimator.fit(X, y)  # some splits ask for nothing but missing values
    again = tw.export.sklearn(tw.from_sklearn(estimator, columns=list("abcd"), target="kind"))
    assert list(again.feature_names_in_) == list("abcd")
    assert (again.tree_.children_left == estimator.tree_.children_left).all()
    assert (again.tree_.predict(X.astype(np.float32)) == estimator.tree_.predict(X.astype(np.float32))).all()


def test_what_is_no_fitted_tree() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="expected a fitted scikit-learn decision tree, not DecisionTreeClassifier"):
        tw.from_sklearn(DecisionTreeClassifier())
    with pytest.raises(DataError, match="one by one"):
        tw.from_sklearn(RandomForestClassifier(n_estimators=2).fit(X, y))
    with pytest.raises(DataError, match="2 outputs"):
        tw.from_sklearn(DecisionTreeRegressor(max_depth=1).fit(X, X[:, :2]))
    with pytest.raises(DataError, match="columns= must name each"):
        tw.from_sklearn(DecisionTreeClassifier().fit(X, y), columns=["a"])


# --- rpart ------------------------------------------------------------------------------------------------------------

RPART_CLASSES = """n= 40

node), split, n, loss, yval, (yprob)
      * denotes terminal node

1) root 40 18 no way (0.5500000 0.4500000)
  2) age>=30.5 22  6 no way (0.7272727 0.2727273)
    4) town=Old York,Paris 12  1 no way (0.9166667 0.0833333) *
    5) town=Rome 10  5 no way (0.5000000 0.5000000) *
  3) age< 30.5 18  6 yes (0.3333333 0.6666667) *
"""
RPART_NUMBERS = """n= 9

node), split, n, deviance, yval
      * denotes terminal node

1) root 9 60.0 4.0
  2) size< 2.5 6 10.0 3.0 *
  3) size>=2.5 3  5.0 6.0 *
"""


def test_rpart_classes() -> None:
    t = tw.from_rpart(RPART_CLASSES, target="buys")
    rows = {"age": [30.5, 30.4, 50, 50, None], "town": ["Rome", "Rome", "Paris", "Old York", "Paris"]}
    assert tw.predict(t, rows).tolist() == ["no way", "yes", "no way", "no way", "no way"]
    assert [node.counts for node in t] == [(22, 18), (16, 6), (11, 1), (5, 5), (6, 12)]
    assert t.schema.columns[1].levels == ("Old York", "Paris", "Rome")
    assert t.recipe == tw.RPART
    assert t.root.gain == pytest.approx(tw.criteria.gini_gain([[16, 6], [6, 12]]))
    looked_at(t)


def test_rpart_numbers() -> None:
    t = tw.from_rpart(RPART_NUMBERS)
    assert tw.predict(t, {"size": [2.4, 2.5, None]}).tolist() == [3, 6, 3]
    assert t.root.deviation == pytest.approx((60 / 9) ** 0.5)
    assert t.root.gain == pytest.approx(tw.criteria.variance([3] * 6 + [6] * 3))
    looked_at(t)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tree as rpart prints it"),
        ("2) age< 1 4 1 no (0.75 0.25) *", "from its root on"),
        (RPART_CLASSES.replace("  3) age< 30.5 18  6 yes (0.3333333 0.6666667) *\n", ""), "node 1 has one child"),
        (RPART_CLASSES.replace("3) age<", "3) town<"), "is compared with a number|one child asks"),
        (RPART_CLASSES.replace(" (0.5000000 0.5000000)", ""), "is no node as rpart prints it"),
        (RPART_CLASSES.replace("age>=30.5", "age"), "is no split"),
    ],
)
def test_text_that_rpart_never_printed(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        tw.from_rpart(text)


def test_classes_can_be_named() -> None:
    text = "1) root 5 1 b (0.1 0.8 0.1) *"
    assert tw.from_rpart(text).schema.target.classes == ("class 1", "b", "class 3")
    assert tw.from_rpart(text, classes=["a", "b", "c"]).schema.target.classes == ("a", "b", "c")
    with pytest.raises(FileError, match="must name 3 different classes"):
        tw.from_rpart(text, classes=["a", "b"])


# --- Weka -------------------------------------------------------------------------------------------------------------

WEKA = """J48 pruned tree
------------------

outlook = sunny
|   humidity <= 77.5: yes (2.0)
|   humidity > 77.5: no (3.0/1.0)
outlook = overcast: yes (4.0)
outlook = rain
|   windy = TRUE: no (2.0/1.0)
|   windy != TRUE: yes (3.0)

Number of Leaves  : 	5
"""


def test_j48() -> None:
    t = tw.from_j48(WEKA, target="play")
    rows = {
        "outlook": ["sunny", "sunny", "overcast", "rain", "rain", "rain"],
        "humidity": [77.5, 78, 1, 1, 1, 1],
        "windy": ["TRUE", "TRUE", "TRUE", "TRUE", "FALSE", None],
    }
    assert tw.predict(t, rows).tolist() == ["yes", "no", "yes", "no", "yes", "yes"]
    assert t.schema.columns[2].levels == ("TRUE", "other")
    assert t[7].split is None
    assert t[5].split.conditions == ("windy = TRUE", "windy = other")
    assert t.root.counts == (11, 3)
    assert t.root.gain == pytest.approx(tw.criteria.information_gain([[3, 2], [4, 0], [4, 1]]))
    assert tw.predict_proba(t, {name: [None] for name in rows}).tolist() == [pytest.approx([11 / 14, 3 / 14])]
    assert tw.from_j48("J48 pruned tree\n---\n: yes (14.0/5.0)\n", classes=["no", "yes"]).root.counts == (5, 9)
    looked_at(t)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no tree as Weka prints it"),
        ("Number of Leaves: 3", "no tree as Weka prints it"),
        (WEKA.replace("|   humidity > 77.5: no (3.0/1.0)\n", ""), "leads to 1 branches"),
        (WEKA.replace("|   humidity <=", "|   |   humidity <="), "deeper than the line before"),
        (WEKA.replace("> 77.5", "> 80"), "not divided in two at one number"),
        (WEKA.replace("<= 77.5", "<= low"), "not compared with a number"),
        (WEKA.replace("windy != TRUE", "windy = TRUE"), "two branches of 'windy' overlap"),
        (WEKA.replace("|   windy = TRUE: no", "|   nonsense"), "no line of a tree"),
    ],
)
def test_text_that_weka_never_printed(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        tw.from_j48(text)


# --- the programs' own print-outs -------------------------------------------------------------------------------------


def oracle_files() -> list[Path]:
    found = sorted(ORACLES.glob("*/rpart.*.json")) + sorted(ORACLES.glob("*/weka.j48.*.json"))
    return [path for path in [*found, *sorted(ORACLES.glob("*/weka.id3.json"))] if "full" not in path.name]


@pytest.mark.skipif(not ORACLES.is_dir(), reason="the print-outs are not here")
def test_print_outs_of_the_programs() -> None:
    """Complete rows are answered as the program answered them; how it treats missing ones is not printed."""
    checked = 0
    for path in oracle_files():
        golden = json.loads(path.read_text(encoding="utf-8"))
        classes = golden.get("classes")
        t = (tw.from_rpart if "rpart" in path.name else tw.from_j48)(golden["text"], classes=classes)
        assert t.n_nodes == golden["summary"]["nodes"], path
        if "default" in path.name:
            looked_at(t)
        if t.schema.names == ("x0",):
            continue
        with (path.parent / "data.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        kinds = {spec.name: float if spec.kind == "numeric" else str for spec in t.schema.columns}
        whole = [i for i, row in enumerate(rows) if all(row[name] != "" for name in kinds)]
        predicted = golden["train_predictions"]
        wanted = [classes[predicted[i]] if classes else predicted[i] for i in whole if predicted[i] is not None]
        whole = [i for i in whole if predicted[i] is not None]
        table = {name: [kind(rows[i][name]) for i in whole] for name, kind in kinds.items()}
        found = tw.predict(t, table).tolist()
        assert found == wanted if classes else found == pytest.approx(wanted, rel=1e-4), path
        checked += len(whole)
    assert checked > 10_000


# --- PMML of others ---------------------------------------------------------------------------------------------------

PMML = """<?xml version="1.0"?>
<PMML version="4.2" xmlns="http://www.dmg.org/PMML-4_2">
 <DataDictionary>
  <DataField name="x" optype="continuous" dataType="double"/>
  <DataField name="c" optype="categorical" dataType="string"><Value value="a"/><Value value="b c"/></DataField>
  <DataField name="y" optype="categorical" dataType="string"/>
 </DataDictionary>
 <TreeModel functionName="classification" missingValueStrategy="STRATEGY" noTrueChildStrategy="returnLastPrediction">
  <MiningSchema>
   <MiningField name="x"/><MiningField name="c"/><MiningField name="y" usageType="predicted"/>
  </MiningSchema>
  <Node id="1" score="no" recordCount="10" defaultChild="3"><True/>
   <ScoreDistribution value="no" recordCount="6"/><ScoreDistribution value="yes" recordCount="4"/>
   <Node id="2" score="no" recordCount="5">
    <CompoundPredicate booleanOperator="surrogate">
     <SimplePredicate field="x" operator="lessThan" value="3"/>
     <SimpleSetPredicate field="c" booleanOperator="isIn"><Array n="1" type="string">"b c"</Array></SimpleSetPredicate>
    </CompoundPredicate>
   </Node>
   <Node id="3" score="yes" recordCount="5">
    <CompoundPredicate booleanOperator="surrogate">
     <SimplePredicate field="x" operator="greaterOrEqual" value="3"/>
     <SimpleSetPredicate field="c" booleanOperator="isIn"><Array n="1" type="string">a</Array></SimpleSetPredicate>
    </CompoundPredicate>
   </Node>
  </Node>
 </TreeModel>
</PMML>
"""
ROWS = {"x": [2.9, 3.0, None, None, None], "c": ["a", "b c", "a", "b c", None]}


@pytest.mark.parametrize(
    ("strategy", "last"), [("none", "no"), ("defaultChild", "yes"), ("lastPrediction", "no"), ("aggregateNodes", "no")]
)
def test_pmml_with_surrogates(strategy: str, last: str) -> None:
    t = tw.from_pmml(PMML.replace("STRATEGY", strategy))
    assert tw.predict(t, ROWS).tolist() == ["no", "yes", "yes", "no", last]
    assert t.root.counts == (6, 4)
    assert [split.column for split in t.root.surrogates] == ["c"]
    looked_at(t)


def test_pmml_of_a_column_without_a_name() -> None:
    tree = tw.learn({"": [1.0, 2, 3, 4], "y": ["a", "a", "b", "b"]}, "y", tw.CART.with_(pruning=None))
    assert tw.predict(tw.from_pmml(tw.export.pmml(tree)), {"": [1.0, 4.0]}).tolist() == ["a", "b"]


def test_pmml_with_a_rest() -> None:
    """One child only, and everything else stays: a leaf is added that answers as the node does."""
    text = re.sub(r'<Node id="3".*?</Node>', "", PMML, flags=re.DOTALL)
    text = re.sub(r"<SimpleSetPredicate.*?</SimpleSetPredicate>", "", text, flags=re.DOTALL)
    t = tw.from_pmml(text.replace('id="2" score="no"', 'id="2" score="yes"').replace("STRATEGY", "none"))
    assert tw.predict(t, {"x": [2.9, 3.0, None]}).tolist() == ["yes", "no", "no"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not XML"),
        ("<PMML>", "not XML, or cut short"),
        ("<html/>", "not a PMML document"),
        ("<PMML/>", "has 0 TreeModels"),
        (PMML.replace("<TreeModel", "<Segment/><Segment/><TreeModel"), "chains the TreeModel with other models"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><PMML/>', "declares a type or entities"),
        (PMML.replace("surrogate", "and"), "together, which a split and its surrogates cannot express"),
        (PMML.replace("surrogate", "perhaps"), "unknown operator 'perhaps'"),
        (PMML.replace("lessThan", "near"), "unknown operator 'near'"),
        (PMML.replace('value="3"', 'value="three"'), "which is no number"),
        (PMML.replace('value="3"', 'value="INF"'), "which is not finite"),
        (PMML.replace('recordCount="6"', 'recordCount="-6"'), "no number of records"),
        (PMML.replace('name="x" optype', 'name="z" optype'), "'x' is computed inside the model"),
        (PMML.replace("<True/>", ""), "must have one predicate"),
        (PMML.replace("<True/>", "<CompoundPredicate booleanOperator='or'>" * 300 + "<True/>"
                      + "</CompoundPredicate>" * 300), "nested too deeply"),
    ],
)  # fmt: skip
def test_pmml_that_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        tw.from_pmml(text)


def test_a_declared_encoding_is_that_of_the_file_not_of_the_text() -> None:
    """The text is decoded already: an encoding that nobody knows, or another one, changes nothing."""
    text = PMML.replace('"no"', '"näo"').replace("STRATEGY", "none")
    body = text[text.index("<PMML") :]
    wanted = tw.from_pmml(body)
    assert "näo" in (wanted.schema.target.classes or ())
    for encoding in ("ISO-8859-1", "UTF-16", "klingon"):
        assert tw.from_pmml(f'<?xml version="1.0" encoding="{encoding}"?>\n{body}') == wanted


# --- spoilt text ------------------------------------------------------------------------------------------------------

READERS = {tw.from_rpart: RPART_CLASSES + "\n" + RPART_NUMBERS, tw.from_j48: WEKA, tw.from_pmml: PMML}


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (tw.from_rpart, RPART_CLASSES.replace("18  6 yes", "1e999  6 yes"), "line 10: '1e999' is no finite number"),
        (tw.from_rpart, RPART_CLASSES.replace("18  6 yes", "-18  6 yes"), "line 10: '-18' is no number of records"),
        (tw.from_rpart, RPART_CLASSES.replace("30.5 18", "1e400 18"), "line 10: '1e400' is no finite number"),
        (tw.from_rpart, RPART_NUMBERS.replace("5.0 6.0", "5.0 1e200"), "line 8: '1e200' is too large"),
        (tw.from_rpart, RPART_NUMBERS.replace("5.0 6.0", "1e300 6"), "line 8: '1e300' is too large"),
        (tw.from_rpart, RPART_CLASSES.replace("3) age", "3" * 5000 + ") age"), "line 10 is no node"),
        (tw.from_j48, WEKA.replace("(4.0)", "(1e999)"), "line 7: '1e999' is no finite number"),
        (tw.from_j48, WEKA.replace("(4.0)", "(1e99)"), "line 7: '1e99' is no number of records"),
        (tw.from_j48, WEKA.replace("77.5", "1e999"), "line 5: '1e999' is no finite number"),
        (tw.from_pmml, PMML.replace('recordCount="6"', 'recordCount="1e999"'), "'1e999' is no finite number"),
    ],
)
def test_numbers_beyond_all_bounds(read: Any, text: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        read(text)


@pytest.mark.parametrize("filling", [" ", "\t", "1", "1 ", ": ", " (", " (1", "<", "< ", "= ", " = ", "|   ", "["])
def test_long_lines_are_read_in_one_pass(filling: str) -> None:
    """Two passes over such a line, one inside the other, would take hours."""
    long = filling * (300_000 // len(filling))
    for line in (f"2) age>=30.5{long}x", f"2) age>={long}x 1 1 no (0.5 0.5) x", f"1) root 9 6 no ({long}"):
        with suppress(FileError):
            tw.from_rpart(line)
    for line in (f"a{long}b", f"a = b{long}: c{long}x", f"a{long} = b: yes (1.0) {long}x", f"|   {long}x"):
        with suppress(FileError):
            tw.from_j48(line)


@pytest.mark.parametrize("seed", range(6))
def test_spoilt_text_is_refused_or_a_sound_tree(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "",
        " ",
        "\n",
        "1",
        "-",
        ".",
        "e999",
        "1e308",
        "1e-320",
        "(",
        ")",
        "<",
        ">=",
        "=",
        ": ",
        "*",
        ",",
        "|   ",
        "null",
        '"',
        "\x85",
    ]
    for read, whole in READERS.items():
        for _ in range(60):
            text = rng.choice((RPART_CLASSES, RPART_NUMBERS)) if read is tw.from_rpart else whole
            for _ in range(rng.choice((1, 1, 2, 4))):
                at = rng.randrange(len(text))
                text = text[:at] + rng.choice(pieces) + text[at + rng.choice((0, 0, 1, 1, 3, 20)) :]
            try:
                t = read(text)
            except FileError:
                continue
            looked_at(t)
