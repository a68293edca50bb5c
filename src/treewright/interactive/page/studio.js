// What all parts of the studio share: the state of the session, the tree that is shown, the selected node, and the
// functions that change them.

import { App } from "../../reporting/page/app.js";
import { make } from "../../reporting/page/base/elements.js";
import { modelOf, pathTo } from "../../reporting/page/base/model.js";
import { tabBar } from "../../reporting/page/base/tab_bar.js";
import { legend } from "../../reporting/page/tree/histogram.js";
import { searchBar } from "../../reporting/page/tree/search.js";
import { toolbar, toolbarKeys } from "../../reporting/page/tree/toolbar.js";
import { TreeView } from "../../reporting/page/tree/tree.js";
import { actionBar, actionKeys } from "./actions.js";
import { get, listen, post } from "./api.js";
import { comparison } from "./compare.js";
import { header } from "./header.js";
import { PANELS } from "./panels/index.js";

export class Studio {
  constructor(root, state) {
    Object.assign(this, { root, state: null, app: null, before: null, busy: 0, versions: 0, stepped: new Set() });
    this.id = "studio";
    this.live = make("p", { class: "tw-unseen", "aria-live": "polite" });
    this.alert = make("div", { class: "st-alert", role: "alert", hidden: true });
    this.work = make("div", { class: "st-work", role: "status", hidden: true });
    this.header = header(this);
    this.actions = actionBar(this);
    this.compared = comparison(this);
    this.place = make("div", { class: "st-place" });
    this.panels = PANELS.map((panel) => panel(this));
    let last = this.panels[0];
    this.side = tabBar(this, "Panels", this.panels, (name) => {
      last.hidden?.();
      last = this.panels.find((panel) => panel.name === name);
      this.refresh();
    });
    const trees = make("div", { class: "st-trees" }, this.place, this.compared.element);
    root.replaceChildren(
      this.header.element,
      make("div", { class: "tw-hero st-hero" },
        make("div", { class: "tw-main" }, this.actions.element, this.alert, this.work, trees),
        make("aside", { class: "tw-side st-side", "aria-label": "Panels" }, this.side.element)),
      this.live,
    );
    this.show(state);
    actionKeys(this);
    toolbarKeys({ views: { shown: () => "Tree" }, get tree() { return root.studio.app.tree; },
      get search() { return root.studio.app.search; } }, this.place);
    root.studio = this;
    listen((event) => this.onEvent(event));
    if (state.continued) this.say(`Continued after ${state.continued} steps, from ${state.saves}.`);
    for (const note of state.notes) this.say(note);
    root.dataset.ready = "true";
  }

  get node() {
    return this.app.state.selected;
  }

  get model() {
    return this.app.model;
  }

  /** Shows a state of the session; what was looked at stays in view. */
  show(state, select = null) {
    this.before = this.state;
    this.state = Object.assign(state, { version: ++this.versions });
    const old = this.app;
    const active = document.activeElement;
    const focus = !active || active === document.body || this.place.contains(active); // keys go on from the tree
    const app = (this.app = new App(modelOf(state.report), state.report));
    app.announce = (text) => (this.live.textContent = text);
    app.side = { show: (name) => this.panels.some((panel) => panel.name === name) && this.side.show(name),
      shown: () => this.side.shown() };
    app.views = { show: () => {}, shown: () => "Tree" };
    app.tabs = [{ selected: () => this.refresh() }];
    app.tree = new TreeView(app);
    app.search = searchBar(app);
    this.place.replaceChildren(toolbar(app), legend(app.model), app.tree.element);
    const wanted = select ?? old?.state.selected ?? 0;
    app.state.selected = wanted < app.model.n ? wanted : 0;
    app.state.nearest = this.nearest;
    app.state.orientation = old?.state.orientation ?? "right";
    app.tree.start(old ? old.state.orientation : null);
    for (const i of pathTo(app.model, app.state.selected)) if (app.model.hasChildren(i)) app.state.expanded.add(i);
    app.tree.redraw();
    app.select(app.state.selected, focus);
    Object.assign(this.root.dataset, { nodes: app.model.n, steps: state.undo });
    this.header.show();
    this.actions.show();
    this.compared.show();
  }

  /** Brings the open panel up to date with the selected node. */
  refresh() {
    this.actions.show();
    const panel = this.panels.find((one) => one.name === this.side.shown());
    panel?.refresh?.(this.node);
  }

  /** Opens a panel, or brings it up to date where it is open. */
  open(name) {
    if (this.side.shown() === name) this.refresh();
    else this.side.show(name);
  }

  /** Makes a change and shows what came of it. @returns whether it was made */
  async change(path, body = {}, select = null) {
    this.quiet();
    this.busy += 1;
    this.root.setAttribute("aria-busy", "true");
    try {
      this.show(await post(path, body), select);
      return true;
    } catch (error) {
      this.say(error.message, !error.cancelled);
      return false;
    } finally {
      this.busy -= 1;
      if (!this.busy) this.root.removeAttribute("aria-busy");
    }
  }

  edit(edit) {
    return this.change("edit", edit, edit.node);
  }

  /** Sends a request; a refusal is shown, and null returned. */
  async request(send) {
    try {
      return await send();
    } catch (error) {
      this.say(error.message, true);
      return null;
    }
  }

  say(text, wrong = false) {
    const line = make("p", { class: wrong ? "st-wrong" : "" }, make("bdi", {}, text));
    const close = make("button", { type: "button", class: "tw-button", "aria-label": "Close the message",
      onclick: () => (line.remove(), close.remove(), (this.alert.hidden = !this.alert.children.length)) }, "×");
    this.alert.append(line, close);
    this.alert.hidden = false;
  }

  quiet() {
    this.alert.replaceChildren();
    this.alert.hidden = true;
  }

  /** An event of the server: progress of long work with a way to end it; a change made elsewhere. */
  onEvent(event) {
    if (event.event === "progress") {
      const bar = make("progress", { max: 1, value: event.done, "aria-label": event.job });
      bar.value = event.done;
      this.work.replaceChildren(make("span", {}, `${event.job} …`), bar,
        make("button", { type: "button", class: "tw-button", onclick: () => post("cancel") }, "Cancel (Esc)"));
      this.work.hidden = false;
    } else if (event.event === "ended") this.work.hidden = true;
    else if (event.event === "changed" && !this.busy && event.done - 1 !== this.state.undo) this.reload();
    else if (event.event === "lost") this.root.dataset.lost = "true";
    else if (event.event === "open") delete this.root.dataset.lost;
  }

  /** Shows what another page of this studio has done. */
  async reload() {
    const state = await this.request(() => get("state"));
    if (state && !this.busy) this.show(state);
  }

  editAt(node) {
    return this.state.report.edits.find((edit) => edit.node === node) ?? null;
  }
}
