// Completes what is being written: @ people, # channels, : emoji. The arrow keys choose, Enter or Tab
// takes, Escape closes.

import { announce, find, h } from "../client/element.js";
import { characterOf, loadEmoji } from "./emoji.js";

const MOST = 8;
const WRITTEN = /(?:^|[\s(])([@#:])([^\s@#:*]{1,40})$/u;
const EMOJI_LEAST = 2; // letters: a smile such as :D is none

export class Completion {
  #app;
  #field = find("content");
  #list = find("completions");
  #choices = []; // [text shown, text written]
  #at = 0;
  #begin = 0; // where what they replace begins

  constructor(app) {
    this.#app = app;
    this.#field.addEventListener("input", () => this.#look());
    this.#field.addEventListener("blur", () => this.close());
    this.#field.addEventListener("keydown", (event) => this.#press(event), { capture: true });
  }

  close() {
    this.#choices = [];
    this.#draw();
  }

  async #look() {
    const before = this.#field.value.slice(0, this.#field.selectionStart);
    const match = WRITTEN.exec(before);
    if (match === null) return this.close();
    const [, sign, word] = match;
    const found = await this.#find(sign, word.toLowerCase());
    if (!this.#field.value.startsWith(before)) return; // written on meanwhile
    this.#begin = before.length - word.length - 1;
    this.#choices = found.slice(0, MOST);
    this.#at = 0;
    this.#draw();
    if (this.#choices.length > 0) announce(`${this.#choices.length} suggestions`);
  }

  /** The choices for a sign and a word, those that begin with it first. */
  async #find(sign, word) {
    const { state } = this.#app;
    if (state === null) return [];
    if (sign === "#") return sorted(state.channels.values(), "name", word).map(({ name }) => [`#${name}`, `#**${name}** `]);
    if (sign === "@") {
      const people = [...state.people].map((id) => state.users.get(id));
      return sorted(people, "full_name", word).map(({ full_name, user_id }) => [
        full_name,
        `@**${full_name}|${user_id}** `,
      ]);
    }
    if (word.length < EMOJI_LEAST) return [];
    try {
      const table = await loadEmoji(state.realm.emojiAddress);
      const named = table.flatMap(([code, names]) => names.map((name) => ({ code, name })));
      return sorted(named, "name", word).map(({ code, name }) => [`${characterOf(code)} ${name}`, `:${name}: `]);
    } catch {
      return []; // there are none to choose from
    }
  }

  #press(event) {
    if (this.#choices.length === 0 || event.isComposing) return;
    const count = this.#choices.length;
    if (event.key === "ArrowDown") this.#at = (this.#at + 1) % count;
    else if (event.key === "ArrowUp") this.#at = (this.#at + count - 1) % count;
    else if (event.key === "Escape") this.#choices = [];
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) this.#take(this.#at);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.#draw();
  }

  #take(at) {
    const end = this.#field.selectionStart;
    this.#field.setRangeText(this.#choices[at][1], this.#begin, end, "end");
    this.#choices = [];
    this.#draw();
  }

  #draw() {
    const isOpen = this.#choices.length > 0;
    const items = this.#choices.map(([shown], at) => {
      const take = (event) => {
        event.preventDefault(); // the field keeps the focus
        this.#take(at);
      };
      const properties = { role: "option", id: `completion-${at}`, "aria-selected": `${at === this.#at}` };
      return h("li", { ...properties, onmousedown: take }, shown);
    });
    this.#list.replaceChildren(...items);
    this.#list.hidden = !isOpen;
    if (isOpen) this.#field.setAttribute("aria-activedescendant", `completion-${this.#at}`);
    else this.#field.removeAttribute("aria-activedescendant");
  }
}

function sorted(rows, key, word) {
  const found = [...rows].filter((row) => row[key].toLowerCase().includes(word));
  const rank = (row) => (row[key].toLowerCase().startsWith(word) ? 0 : 1);
  return found.sort((one, other) => rank(one) - rank(other) || one[key].length - other[key].length);
}
