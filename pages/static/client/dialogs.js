// The page's dialogs: a question, and whatever else asks for attention first.

import { find } from "./element.js";

// Not a button that submits: the Enter key in a field would choose the first of those.
document.addEventListener("click", (event) => event.target.closest("[data-dismiss]")?.closest("dialog").close(""));

/** Open a dialog; resolves with the value of the button that closed it, "" when it was dismissed. */
export function open(dialog) {
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue), { once: true });
  });
}

/** Ask whether to go on; `verb` is what the button says. */
export async function ask(title, text, verb) {
  find("question-title").textContent = title;
  find("question-text").textContent = text;
  find("question-yes").textContent = verb;
  return (await open(find("question"))) === "yes";
}
