// A state as sign and words: never as colour alone.

import { find, h } from "../client/element.js";

/** The drawing is a template of the page, since no value becomes markup here. */
const signOf = (tone) => find(`sign-${tone}`).content.cloneNode(true);

export function badge({ tone, words }) {
  return h("span", { class: `badge ${tone}` }, signOf(tone), h("span", {}, words));
}
