// The chosen node at the side: how one gets there, its numbers, its arithmetic, its rivals and rows.
//
// Comes in: the app and a node. Goes out: an element that tells all about it.
// Always holds: what comes later (worked arithmetic is kept compressed) is thrown away if another node was chosen
// meanwhile; worked arithmetic is the only HTML taken as it is, for Python escaped it.

import { bar, classOrder, conditionOf, swatch } from "./cards.js";
import { answerText, colourAt, deviationAt, pathTo, questionText, shareOf, statsAt, valuesAt } from "./model.js";
import { make, many, number, percent, valueText } from "./words.js";

export function inspector(app) {
  const element = make("div", { class: "tw-inspector" });
  let current = -1;

  async function show(node) {
    current = node;
    element.replaceChildren(...about(app, node));
    const detail = (await app.details.at(node)) || {};
    if (current === node) element.append(...later(app, node, detail));
  }
  return { element, show };
}

function about(app, node) {
  const { model } = app;
  const { nodes } = model;
  const leaf = app.tree.isLeaf(node);
  const pruned = leaf && nodes.asks[node] >= 0;
  const title = leaf ? answerText(model, node) : `${questionText(model, node)}?`;
  const why = pruned ? "leaf at this alpha" : leaf ? `leaf: ${nodes.stop[node]}` : "question";
  return [
    make(
      "header",
      { class: "tw-node-head", style: `--answer:${colourAt(model, node)}` },
      make("p", { class: "tw-eyebrow" }, `Node ${node} · ${why}`),
      make("h2", {}, make("bdi", {}, title)),
      leaf ? null : make("p", { class: "tw-muted" }, "would answer ", make("bdi", {}, answerText(model, node))),
    ),
    make("div", { class: "tw-actions" }, copyButton(app, node), leaf ? null : expandButton(app, node)),
    breadcrumb(app, node),
    model.classes ? distribution(model, node) : numbers(model, node),
    measures(model, node, leaf),
  ];
}

function copyButton(app, node) {
  const button = make("button", { type: "button", class: "tw-button" }, "Copy rule");
  button.addEventListener("click", async () => {
    const text = await ruleText(app, node);
    const done = await copied(text);
    button.textContent = done ? "Copied" : "Could not copy";
    app.say(done ? "Rule copied" : "The rule could not be copied");
    setTimeout(() => (button.textContent = "Copy rule"), 1600);
  });
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No permission, or an old page in a frame: a hidden field does it too.
    const field = make("textarea", { style: "position:fixed;opacity:0" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/** The rule in full, also where a card cuts a long list of levels short. */
async function ruleText(app, node) {
  const path = pathTo(app.model, node).slice(1);
  const parts = await Promise.all(
    path.map(async (i) => (await app.details.at(i))?.condition || app.model.nodes.condition[i])
  );
  const conditions = parts.length ? parts.join(" and ") : "anything";
  return `if ${conditions} then ${app.model.report.facts.target} = ${answerText(app.model, node)}`;
}

function expandButton(app, node) {
  const { model } = app;
  const all = [];
  for (let i = node; i < model.end[node]; i++) if (app.tree.cut().leaf[i] === 0) all.push(i);
  const open = all.every((i) => app.state.expanded.has(i));
  return make(
    "button",
    { type: "button", class: "tw-button", onclick: () => app.expand(all, !open) },
    open ? "Collapse subtree" : `Expand subtree (${many(app.tree.cut().below[node], "leaf", "leaves")})`,
  );
}

function breadcrumb(app, node) {
  const path = pathTo(app.model, node);
  const items = path.map((i) =>
    make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          class: "tw-crumb",
          "aria-current": i === node ? "true" : null,
          onclick: () => app.select(i, false),
        },
        conditionOf(app.model, i),
      ),
    ),
  );
  return section("Path", make("ol", { class: "tw-path" }, ...items));
}

function distribution(model, node) {
  const stats = statsAt(model, node);
  const values = valuesAt(model, node);
  const total = stats.reduce((a, b) => a + b, 0);
  const smoothed = stats.some((weight, k) => Math.abs(total > 0 ? weight / total - values[k] : values[k]) > 1e-9);
  const order = classOrder(smoothed ? values : stats);
  const most = 12;
  const row = (k) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, swatch(model, k), make("bdi", {}, model.classes[k])),
      make("td", {}, number(stats[k])),
      make("td", {}, total > 0 ? percent(stats[k] / total, 1) : ""),
      smoothed ? make("td", {}, percent(values[k], 1)) : null,
    );
  const body = make("tbody", {}, ...order.slice(0, most).map(row));
  const table = make(
    "table",
    { class: "tw-table" },
    make(
      "thead",
      {},
      make(
        "tr",
        {},
        head("class"),
        head(model.report.facts.weighted ? "weight" : "rows"),
        head("share"),
        smoothed ? head("answers") : null,
      ),
    ),
    body,
  );
  const rest = order.slice(most);
  const more = rest.length ? make(
    "button",
    { type: "button", class: "tw-link" },
    `${many(rest.length, "class", "classes")} more`,
  ) : null;
  more?.addEventListener("click", () => (body.append(...rest.map(row)), more.remove()));
  const none = model.classes.length - order.length;
  return section(
    "Distribution",
    bar(model, node),
    table,
    more,
    none > 0 && order.length > 0 ? make(
      "p",
      { class: "tw-muted" },
      `${many(none, "class", "classes")} without rows here`,
    ) : null,
  );
}

function numbers(model, node) {
  const [, mean] = statsAt(model, node);
  return section(
    "Distribution",
    bar(model, node),
    facts(
      [
        ["answer", number(model.nodes.value[node])],
        ["mean", number(mean)],
        ["standard deviation", number(deviationAt(model, node))],
      ]
    ),
  );
}

/** `leaf`: whether the node answers in the tree as it is shown, cut or whole. */
function measures(model, node, leaf) {
  const { nodes, report } = model;
  const list = [["rows", number(nodes.rows[node])]];
  if (report.facts.weighted || Math.abs(nodes.weight[node] - nodes.rows[node]) > 1e-9) list.push(
    ["weight", number(nodes.weight[node])]
  );
  list.push(["share of all rows", percent(shareOf(model, node), 1)]);
  list.push([report.facts.impurity, number(nodes.impurity[node])]);
  if (!leaf) list.push(["gain", number(nodes.gain[node])]);
  if (report.pruning && nodes.asks[node] >= 0) list.push(["cut from alpha", number(report.pruning.price[node])]);
  if (!leaf) list.push(["a missing value", missingText(model, node)]);
  return section("Numbers", facts(list));
}

/** What a missing value does at a node. */
export function missingText(model, node) {
  const { facts: told, splits } = model.report;
  if (told.refuses_missing) return "is refused";
  const own = splits.start[node];
  const others = splits.start[node + 1] - own - 1;
  const missing = splits.missing[own];
  const last =
    missing >= 0
      ? `goes to ${model.nodes.edge[model.children(node)[missing]].replace(/ or missing$/, "")}`
      : { "-1": "goes to every branch, by share", "-2": "ends here", "-3": "goes to a branch drawn by share" }[missing];
  return others > 0 ? `asks ${many(others, "surrogate")}, else ${last}` : last;
}

function later(app, node, detail) {
  const parts = [];
  if (detail.worked) {
    const work = make("div", { class: "tw-work" });
    work.innerHTML = detail.worked; // made and escaped by treewright.inspection.derivation.explain_node
    const leaf = app.tree.isLeaf(node);
    const pruned = leaf && app.model.nodes.asks[node] >= 0;
    parts.push(section(pruned ? "The split that is pruned" : leaf ? "How it answers" : "How it was chosen", work));
  } else if (app.model.nodes.asks[node] >= 0 && !detail.rivals) {
    const why =
      "This tree is large: the page holds the arithmetic of its heaviest nodes. " +
      "In Python, worked(tree, node) tells that of any node.";
    parts.push(section("How it was chosen", make("p", { class: "tw-muted" }, why)));
  }
  if (detail.rivals?.length && !detail.worked) parts.push(
    section("Rivals", splitTable(detail.rivals, ["score", "gain", ...("p" in detail.rivals[0] ? ["p"] : [])]))
  );
  if (detail.surrogates?.length) parts.push(
    section("Surrogates", splitTable(detail.surrogates, ["agreement", "adjusted"]))
  );
  if (detail.cut) parts.push(section("Cut", make("p", {}, detail.cut)));
  const rows = rowsTable(app, node);
  if (rows) parts.push(rows);
  return parts;
}

function splitTable(splits, names) {
  const row = (split) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("bdi", {}, split.words)),
      ...names.map((name) => make("td", {}, number(split[name]))),
    );
  return make(
    "table",
    { class: "tw-table" },
    make("thead", {}, make("tr", {}, head("split"), ...names.map((name) => head(name)))),
    make("tbody", {}, ...splits.map(row)),
  );
}

/** Some rows of the table that come to a node. */
function rowsTable(app, node) {
  const { model } = app;
  const sample = model.report.rows;
  if (!sample) return null;
  const inside = sample.node.map((at, i) => [at, i]).filter(
    ([at]) => at >= node && at < model.end[node]
  ).map(([, i]) => i);
  if (!inside.length) return null;
  const most = 8;
  const chosen = inside.length <= most ? inside : Array.from(
    { length: most },
    (_, i) => inside[Math.floor((i * inside.length) / most)],
  );
  const asked = new Set(pathTo(model, node).map((i) => model.nodes.asks[i]));
  const order = sample.columns.map((_, c) => c).sort(
    (a, b) => asked.has(sample.columns[b]) - asked.has(sample.columns[a]) || a - b
  );
  const truth = (i) => (model.classes ? model.classes[sample.truth[i]] : number(sample.truth[i]));
  const columns = order.map((c) => [model.report.schema.columns[sample.columns[c]], sample.values[c]]);
  const table = make(
    "table",
    { class: "tw-table" },
    make(
      "thead",
      {},
      make("tr", {}, head("row"), head(model.report.facts.target), ...columns.map(([column]) => head(column.name))),
    ),
    make(
      "tbody",
      {},
      ...chosen.map((i) =>
        make(
          "tr",
          {},
          make(
            "th",
            { scope: "row" },
            make(
              "button",
              {
                type: "button",
                class: "tw-link",
                title: "Follow this row through the tree",
                onclick: () => app.useRow(i),
              },
              number(sample.row[i]),
            ),
          ),
          make("td", { class: "tw-text" }, make("bdi", {}, truth(i))),
          ...columns.map(
            ([column, values]) => make(
              "td",
              { class: column.levels ? "tw-text" : null },
              make("bdi", {}, valueText(column, values[i])),
            )
          ),
        ),
      ),
    ),
  );
  return section(
    `Rows, ${chosen.length} of ${number(model.nodes.rows[node])}`,
    make("div", { class: "tw-scroll", tabindex: 0, role: "group", "aria-label": "Rows of this node" }, table),
  );
}

export function section(title, ...children) {
  return make("section", { class: "tw-section" }, make("h3", {}, title), ...children);
}

export function facts(list) {
  return make(
    "dl",
    { class: "tw-facts" },
    ...list.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, make("bdi", {}, value))]),
  );
}

export function head(text) {
  return make("th", { scope: "col" }, make("bdi", {}, text));
}
