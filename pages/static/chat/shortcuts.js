// Keys that do something wherever the focus is, as in Zulip, unless it is in a field or a dialog.

import { find } from "../client/element.js";

const FIELDS = "input, textarea, select, [contenteditable], dialog";

export class Shortcuts {
  #app;

  constructor(app) {
    this.#app = app;
    document.addEventListener("keydown", (event) => this.#press(event));
    find("show-shortcuts").addEventListener("click", () => find("shortcuts").showModal());
  }

  #press(event) {
    const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
    if (!isPlain || event.defaultPrevented || this.#app.state === null) return;
    if (event.target.matches(FIELDS) || document.querySelector("dialog[open]") !== null) return;
    const act = this.#actOf(event.key);
    if (act === null) return;
    event.preventDefault();
    act();
  }

  #actOf(key) {
    if (key === "/") return () => find("search").focus();
    if (key === "q" || key === "w") return () => find("filter").focus();
    if (key === "n") return () => this.#app.showNextUnread();
    if (key === "?") return () => find("shortcuts").showModal();
    if (this.#app.place === null) return null;
    if (key === "c" || key === "r") return () => this.#app.write();
    if (key === "j") return () => step(1);
    if (key === "k") return () => step(-1);
    return null;
  }
}

/** Move the focus to the next message, or to the one before. */
function step(change) {
  const items = [...document.querySelectorAll("#messages .message")];
  if (items.length === 0) return;
  const view = find("timeline").getBoundingClientRect();
  const at = items.indexOf(document.activeElement?.closest?.(".message"));
  const inView = items.findIndex((item) => item.getBoundingClientRect().bottom > view.top);
  const next = at === -1 ? Math.max(0, inView) : Math.min(items.length - 1, Math.max(0, at + change));
  items[next].setAttribute("tabindex", "-1");
  items[next].focus({ focusVisible: true });
  items[next].scrollIntoView({ block: "nearest" });
}
