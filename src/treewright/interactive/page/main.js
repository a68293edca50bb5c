// The studio: the page asks for the state of the session and shows it. Every change is an edit that the server makes; the
// page keeps nothing but what is selected and how it is looked at.

import { make } from "../../reporting/page/base/elements.js";
import { get } from "./api.js";
import { Studio } from "./studio.js";

const root = document.getElementById("studio");
try {
  new Studio(root, await get("state"));
} catch (error) {
  root.replaceChildren(make("p", { class: "tw-note", role: "alert" }, error.message));
}
