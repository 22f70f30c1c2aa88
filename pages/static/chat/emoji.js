// The emoji of the server, by name, and the dialog in which one is chosen.

import { open } from "../client/dialogs.js";
import { find, h } from "../client/element.js";

/** What people take most often, by name. */
export const OFTEN = Object.entries({
  "+1": "1f44d",
  heart: "2764",
  joy: "1f602",
  tada: "1f389",
  eyes: "1f440",
  check: "2705",
});

/** The emoji of a code: hexadecimal code points with dashes between them. */
export function characterOf(code) {
  const character = String.fromCodePoint(...code.split("-").map((point) => Number.parseInt(point, 16)));
  return code.length === 4 ? `${character}\ufe0f` : character; // older signs are drawn as text without it
}

const MOST = 200; // buttons in the dialog; who looks for another one types its name

let table = null; // [code, names]

/** From the address of `server_emoji_data_url`, asked for once. */
export async function loadEmoji(address) {
  if (table !== null) return table;
  const answer = await fetch(new URL(address).pathname, { credentials: "omit" });
  table = Object.entries((await answer.json()).code_to_names);
  return table;
}

/** Let the user choose; the name of an emoji, or "". */
export function chooseEmoji() {
  const dialog = find("emoji");
  const field = find("emoji-name");
  const list = find("emoji-list");
  const draw = () => {
    const wanted = field.value.trim().toLowerCase();
    const found = table.filter(([, names]) => names.some((name) => name.includes(wanted)));
    list.replaceChildren(...found.slice(0, MOST).map(([code, [name]]) => buttonOf(name, code, () => dialog.close(name))));
    find("no-emoji").hidden = found.length > 0;
  };
  field.value = "";
  field.oninput = draw;
  field.onkeydown = (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    list.querySelector("button")?.click();
  };
  draw();
  return open(dialog);
}

/** A button with an emoji on it. */
export function buttonOf(name, code, onclick) {
  const properties = { type: "button", title: name, "aria-label": name.replaceAll("_", " "), onclick };
  return h("button", properties, characterOf(code));
}
