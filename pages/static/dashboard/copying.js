// Values that can be copied: each with a button, which has a sign and a name and no text of its own.

import { announce, find, h } from "../client/element.js";

const DONE_MS = 1500;

/** A value and its button; `what` names the value. `link` has the properties of a link, if it is one. */
export function copyable(value, what, link = null) {
  const sign = find("sign-copy").content.cloneNode(true);
  const button = h("button", { type: "button", class: "copy-value", "aria-label": `Copy: ${what}`, title: "Copy" }, sign);
  return h("span", { class: "copyable" }, link ? h("a", link, h("code", {}, value)) : h("code", {}, value), button);
}

/** Listen to the buttons of the page. */
export function installCopying() {
  document.addEventListener("click", async (event) => {
    const button = event.target.closest(".copy-value");
    if (!button) return;
    const source = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(source.textContent);
    } catch {
      // Without https or permission: select the value, then copy the selection.
      getSelection().selectAllChildren(source);
      if (!document.execCommand("copy")) return announce("Selected. Copy it with your keyboard.");
      getSelection().removeAllRanges();
    }
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), DONE_MS);
    announce("Copied");
  });
}
