// What can be taken away: the tree, its log, a script, the report page, and the tree in other languages.

import { button, make } from "../../../reporting/page/base/elements.js";
import { figure, many } from "../../../reporting/page/base/numbers.js";
import { post } from "../api.js";

const WORDS = {
  tree: "the tree, as JSON", first: "the first tree of the session, which the log begins with", log: "the log of edits, JSON lines",
  script: "a Python script that makes this tree", page: "the report page, one file", svg: "a picture",
  sql: "SQL", python: "Python", c: "C", rust: "Rust", javascript: "JavaScript", onnx: "ONNX", pmml: "PMML", excel: "an Excel workbook",
  dot: "Graphviz", mermaid: "Mermaid",
};

export function takePanel(studio) {
  const list = make("ul", { class: "st-forms" });
  const log = make("ol", { class: "st-log" });
  const note = make("p", { class: "tw-muted" });
  const element = make("div", {}, make("h2", {}, "Take away"), note, list, make("h3", {}, "What was done"), log);

  function refresh() {
    const { forms, saves, log: edits } = studio.state;
    note.textContent = saves ? `Every step is kept in ${saves}; the next studio for these rows goes on from there.`
      : "Nothing is saved by itself; download what you need.";
    list.replaceChildren(...forms.map((form) => make("li", { "data-form": form },
      make("span", {}, WORDS[form] ?? form),
      make("a", { class: "tw-button", href: `/api/take/${encodeURIComponent(form)}`, download: "", "aria-label": `Download ${WORDS[form] ?? form}` }, "Download"),
      saves ? button("Save", () => save(form), { "aria-label": `Save ${WORDS[form] ?? form} into the folder` }) : null)));
    log.replaceChildren(...edits.map((edit) => make("li", {}, make("bdi", {}, sentence(studio, edit)))));
    if (!edits.length) log.replaceChildren(make("li", { class: "tw-muted" }, "nothing yet"));
  }

  async function save(form) {
    const done = await studio.request(() => post("save", { form }));
    studio.quiet();
    if (done) studio.say(`Saved as ${done.saved}, in the folder where the studio was started.`);
  }
  return { name: "Take away", element, refresh };
}

function sentence(studio, edit) {
  const { edit: name, node } = edit;
  if (name === "Split") {
    const how = edit.threshold !== undefined ? `at ${[edit.threshold].flat().join(", ")}` : edit.groups.map((group) => group.join(", ")).join(" | ");
    return `split node ${node} on ${edit.column}: ${how}`;
  }
  if (name === "Grow") return `grow ${edit.keep ? "the leaves below " : ""}node ${node}${edit.levels ? ` by ${many(edit.levels, "level")}` : ""}`;
  if (name === "Prune") return `prune below node ${node} by ${prunerText(studio, edit.pruner)}`;
  if (name === "Forbid" || name === "Allow") return `${name.toLowerCase()} ${edit.columns.join(", ")} at node ${node}`;
  if (name === "SetPrediction") return `node ${node} predicts ${edit.prediction}`;
  return `${name.toLowerCase()} node ${node}`;
}

/** A pruner in words: its name, and its first setting. */
function prunerText(studio, { choice, ...settings }) {
  const words = studio.state.pruners.find(({ pruner }) => pruner.choice === choice)?.name ?? "the price of a leaf";
  const [name, value] = Object.entries(settings)[0] ?? [];
  return name === undefined ? words : `${words}, ${name.replaceAll("_", " ")} ${typeof value === "number" ? figure(value) : value}`;
}
