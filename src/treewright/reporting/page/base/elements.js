// Elements of the page. Text enters the page by textContent alone, so no name or level can become markup.

/** Make an element: `make("button", {class: "x", onclick: f}, "text", child)`. Null properties and children are skipped. */
export function make(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

/** Make an element of a drawing. */
export function draw(tag, properties = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

let made = 0;

/** Return a prefix for the ids of this page; another page in the same document has another one. */
export function freshId() {
  let id = `tw${made++}`;
  while (document.querySelector(`[id^="${id}-"]`)) id = `tw${made++}`; // another copy of this module may have been here
  return id;
}

/** A part with a heading. */
export function section(title, ...children) {
  return make("section", { class: "tw-section" }, make("h3", {}, title), ...children);
}

/** Names and values, one pair per line. */
export function factList(list) {
  const line = ([name, value]) => [make("dt", {}, name), make("dd", {}, make("bdi", {}, value))];
  return make("dl", { class: "tw-facts" }, ...list.flatMap(line));
}

/** A table; the first cell of a row is its header. Cells are texts or elements; `kinds` are classes of the columns. */
export function tableOf(heads, rows, { kinds = [], ...properties } = {}) {
  const text = (cell) => (cell instanceof Element || cell === "" ? cell : make("bdi", {}, cell));
  const row = (cells) => make("tr", {}, ...cells.map((cell, i) => (
    i === 0 ? make("th", { scope: "row" }, text(cell)) : make("td", { class: kinds[i] }, text(cell))
  )));
  const head = make("tr", {}, ...heads.map((name, i) => make("th", { scope: "col", class: kinds[i] }, text(name))));
  const body = make("tbody", {}, ...rows.map(row));
  return make("table", { class: "tw-table", ...properties }, heads.length ? make("thead", {}, head) : null, body);
}

/** A table or picture that scrolls by itself where it is too wide, also by keys. */
export function scrolled(label, ...children) {
  return make("div", { class: "tw-scroll", tabindex: 0, role: "group", "aria-label": label }, ...children);
}

export function button(text, onclick, properties = {}) {
  return make("button", { type: "button", class: "tw-button", onclick, ...properties }, text);
}

/** A button that reads as a link. */
export function link(text, onclick, properties = {}) {
  return make("button", { type: "button", class: "tw-link", onclick, ...properties }, text);
}

/** A link such as "7 more" that calls `open` and disappears. */
export function moreLink(text, open) {
  const made_ = link(text, () => (made_.remove(), open()), { class: "tw-link tw-more-link" });
  return made_;
}

/** The first of many items, and a link to all of them; `show(items)` makes the element, `left(count)` names the rest. */
export function shortened(items, most, left, show) {
  const body = make("div", {}, show(items.slice(0, most)));
  const all = () => body.replaceChildren(show(items));
  if (items.length > most) body.append(moreLink(`${left(items.length - most)} more`, all));
  return body;
}

/** A remark, less prominent than text. */
export function muted(...children) {
  return make("p", { class: "tw-muted" }, ...children);
}

/** A button that copies a text, which may come later, and reports it. */
export function copyButton(app, label, text) {
  const button_ = button(label, async () => {
    const done = await copied(await text());
    button_.textContent = done ? "Copied" : "Could not copy";
    app.announce(button_.textContent);
    setTimeout(() => (button_.textContent = label), 1600);
  });
  return button_;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // Without permission, or in a frame, a hidden field does it too.
    const field = make("textarea", { style: "position:fixed;opacity:0" });
    field.value = text;
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
