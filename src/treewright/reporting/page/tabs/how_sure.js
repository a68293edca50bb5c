// The How sure tab: how often the splits stay when the tree is learned again, what covers new rows, how sure the
// probabilities are, the estimates of an honest tree's other rows, and held-out rows beside training rows. All of it is about
// the whole tree.

import { link, make, muted, scrolled, section, shortened, tableOf } from "../base/elements.js";
import { figure, many, number, percent } from "../base/numbers.js";
import { cutBand, shareBand, track } from "../score/bands.js";
import { reliabilityPart } from "../score/reliability.js";
import { scoreText } from "./score.js";

const MOST_SPLITS = 25;
const MOST_LEAVES = 25;
const STABLE = 0.8; // as in uncertainty/stability_report.py

export function howSureTab(app) {
  const { sure, scores } = app.model.report;
  const pruned = make("p", { class: "tw-note", hidden: true }, "Of the whole tree, not of the pruned one in view.");
  const parts = [
    sure.stability ? make("p", { class: "tw-lead" }, sentence(sure.stability.summary)) : howTo(),
    scorePart(scores),
    sure.stability ? splitsPart(app, sure.stability) : null,
    sure.stability ? columnsPart(sure.stability) : null,
    sure.honest ? honestPart(app, sure.honest) : null,
    sure.calibration ? rangesPart(app, sure.calibration) : null,
    sure.reliability ? reliabilityPart(sure.reliability) : null,
    sure.limits ? limitsPart(app, sure.limits) : null,
  ];
  return {
    name: "How sure",
    element: make("div", { class: "tw-page" }, make("h2", {}, "How sure"), pruned, ...parts),
    treeChanged: () => (pruned.hidden = app.state.step === 0),
  };
}

function howTo() {
  return make(
    "p",
    { class: "tw-note" },
    "Whether the splits would stay with other rows is not known here; ",
    "render.html(tree, data, stability=stability(tree, data)) adds it, as does treewright learn --stability 200.",
  );
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function scorePart({ training, held_out }) {
  if (!training || !held_out) return null;
  const row = (title, { headline, n }) => [title, scoreText(headline), scoreText(headline, "baseline"), number(n)];
  const rows = [row("training rows", training), row("held-out rows", held_out)];
  return section(
    "Held-out against training rows",
    muted("New rows are predicted about as well as held-out rows, not as training rows."),
    tableOf(["", training.headline.name, "baseline", "rows"], rows, { class: "tw-table tw-narrow" }),
  );
}

/** The splits and what became of each; bands of one column share a scale. */
function splitsPart(app, { caption, splits, resamples, notes }) {
  const scales = scalesOf(app.model, splits);
  const line = (split) => [
    link(make("bdi", {}, split.condition), () => app.showNode(split.node), { title: "Show this split in the tree" }),
    number(split.rows),
    track(split.kept, percent(split.kept), split.kept < STABLE),
    split.cut ? cutBand(split.cut, scales.get(app.model.nodes.column[split.node])) : "",
    percent(split.jaccard),
    split.instead.map(({ name, share }) => `${name} ${percent(share)}`).join(", "),
  ];
  const heads = ["split", "rows", "kept", "cut in the refits", "same rows", "instead"];
  const kinds = [null, null, "tw-kept", "tw-band-cell", null, "tw-text tw-list"];
  const table = (some) => scrolled(caption, tableOf(heads, some.map(line), { kinds }));
  return section(
    `Splits in ${number(resamples)} refits`,
    muted(
      "Kept: the refit splits these rows on the same column. The band holds nine of ten cuts, its dark part half of ",
      "them; the line is the cut of this tree.",
    ),
    shortened(splits, MOST_SPLITS, (left) => many(left, "split"), table),
    ...notes.slice(1).map((text) => muted(sentence(text))),
  );
}

function scalesOf(model, splits) {
  const scales = new Map();
  for (const { node, cut } of splits) {
    if (!cut) continue;
    const [low, high] = scales.get(model.nodes.column[node]) ?? [Infinity, -Infinity];
    const ends = [cut.at, cut.bands[0], cut.bands.at(-1)];
    scales.set(model.nodes.column[node], [Math.min(low, ...ends), Math.max(high, ...ends)]);
  }
  return scales;
}

function columnsPart({ columns }) {
  const line = ({ name, share }) => [name, track(share, percent(share))];
  return section(
    "Columns that the refits use",
    tableOf([], columns.slice(0, 30).map(line), { kinds: [null, "tw-kept"], class: "tw-table tw-narrow" }),
  );
}

/** Both estimates of an honest tree, leaf by leaf. */
function honestPart(app, { text, leaves, measure, more }) {
  const value = (estimate) => (estimate === null ? "" : measure === "share" ? percent(estimate, 1) : figure(estimate));
  const line = (leaf) => [
    leafLink(app, leaf.node), leaf.prediction, number(leaf.rows), value(leaf.chosen), number(leaf.other_rows), value(leaf.other),
  ];
  const heads = ["leaf", "prediction", "rows", measure, "other rows", `their ${measure}`];
  const kinds = [null, "tw-text", null, null, null, null];
  const table = (some) => scrolled("Honest estimates", tableOf(heads, some.map(line), { kinds }));
  return section(
    "Honest estimates",
    muted(
      `${sentence(text)} Rows and ${measure} come from those that did. Where the two are far apart, choosing the splits `,
      "made the leaf look better than it is.",
    ),
    shortened(leaves, MOST_LEAVES, String, table),
    more > 0 ? muted(`${many(more, "leaf", "leaves")} with fewer rows not listed.`) : null,
  );
}

function rangesPart(app, { text, ranges }) {
  const leaves = [...ranges.keys()].filter((node) => !app.model.hasChildren(node));
  const line = (node) => [leafLink(app, node), ranges[node]];
  const table = (some) => tableOf(["leaf", "covers new rows"], some.map(line), { class: "tw-table tw-narrow" });
  return section("Ranges for new rows", muted(sentence(text)), shortened(leaves, MOST_LEAVES, String, table));
}

function limitsPart(app, { leaves, held_out, confidence, more }) {
  const line = (leaf) => [
    leafLink(app, leaf.node),
    leaf.class,
    percent(leaf.stated, 1),
    number(leaf.rows),
    leaf.share === null ? "" : percent(leaf.share, 1),
    shareBand(leaf),
  ];
  const heads = ["leaf", "class", "predicted", held_out ? "held-out rows" : "training rows", "share", "limits"];
  const kinds = [null, "tw-text", null, null, null, "tw-band-cell"];
  const table = (some) => scrolled("Probabilities", tableOf(heads, some.map(line), { kinds }));
  const where = held_out
    ? "The share of the class among held-out rows should agree with the prediction: the line within the band."
    : "Training rows make a tree look surer than it is, because the splits were chosen to fit them.";
  return section(
    "Probabilities in the leaves",
    muted(`Bands: exact ${percent(confidence)} limits. ${where}`),
    shortened(leaves, MOST_LEAVES, String, table),
    more > 0 ? muted(`${many(more, "leaf", "leaves")} with fewer rows not listed.`) : null,
  );
}

function leafLink(app, node) {
  return link(`node ${node}`, () => app.showNode(node), { title: "Show this leaf in the tree" });
}
