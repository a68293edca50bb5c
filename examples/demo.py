"""Two trees to look at: Quinlan's weather table with ID3, and scikit-learn's breast cancer table with CART.

Prints both trees, each with its accuracy on rows it did not learn from, and writes a page to explore the second one.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import treewright as tw

TENNIS = """
outlook  temperature humidity wind   play
Sunny    Hot         High     Weak   No
Sunny    Hot         High     Strong No
Overcast Hot         High     Weak   Yes
Rain     Mild        High     Weak   Yes
Rain     Cool        Normal   Weak   Yes
Rain     Cool        Normal   Strong No
Overcast Cool        Normal   Weak   Yes
Sunny    Mild        High     Weak   No
Sunny    Cool        Normal   Weak   Yes
Rain     Mild        Normal   Weak   Yes
Sunny    Mild        Normal   Strong Yes
Overcast Mild        High     Strong Yes
Overcast Hot         Normal   Weak   Yes
Rain     Mild        High     Strong No
"""


def columns_of(text: str) -> dict[str, list[str]]:
    names, *rows = (line.split() for line in text.strip().splitlines())
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def rows_of(table: dict, rows: np.ndarray) -> dict:
    return {name: np.asarray(values)[rows] for name, values in table.items()}


def tennis() -> None:
    table = columns_of(TENNIS)
    play = np.asarray(table["play"])
    print(f"Quinlan's weather table: play tennis? {len(play)} days, learned with ID3\n")
    print(tw.learn(table, target="play", recipe=tw.ID3))

    days = np.arange(len(play))
    right = 0
    for day in days:
        others = tw.learn(rows_of(table, days != day), target="play", recipe=tw.ID3)
        right += tw.predict(others, rows_of(table, days == day))[0] == play[day]
    majority = max(np.mean(play == label) for label in set(play))
    print(f"\nLeaving one day out at a time: {right} of {len(play)} right ({100 * right / len(play):.0f} %).")
    print(f"Always predicting the majority class: {100 * majority:.0f} %. Fourteen days are few.\n")


def breast_cancer() -> None:
    data = load_breast_cancer()
    table = dict(zip(map(str, data.feature_names), data.data.T, strict=True))
    table["diagnosis"] = data.target_names[data.target]

    rows = np.random.default_rng(0).permutation(len(data.target))
    learned, held_out = np.split(rows, [round(0.7 * len(rows))])
    recipe = tw.CART.with_(max_depth=4, min_samples_leaf=5)
    tree = tw.learn(rows_of(table, learned), target="diagnosis", recipe=recipe)
    print(f"Breast cancer: {len(learned)} of {len(rows)} rows, learned with CART, depth at most 4\n")
    print(tree)

    truth = table["diagnosis"][held_out]
    accuracy = np.mean(tw.predict(tree, rows_of(table, held_out)) == truth)
    names, counts = np.unique(table["diagnosis"][learned], return_counts=True)
    baseline = np.mean(truth == names[counts.argmax()])
    print(f"\nOf the {len(held_out)} rows held out, {100 * accuracy:.1f} % are predicted correctly,")
    print(f"{100 * baseline:.1f} % by always predicting the majority class.")

    page = Path(__file__).resolve().parent.parent / "build" / "demo.html"
    page.parent.mkdir(exist_ok=True)
    text = tw.render.html(tree, rows_of(table, learned), held_out=rows_of(table, held_out), title="Breast cancer")
    page.write_text(text, encoding="utf-8")
    print(f"A page to explore this tree: {page}")


if __name__ == "__main__":
    tennis()
    breast_cancer()
