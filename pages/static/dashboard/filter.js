// The form that says which invoices are listed: what the API is asked, and what passes here. The
// address of the page has it, so that a link or a reload shows the same list.

import { find } from "../client/element.js";
import { dayOf } from "./times.js";

const UNUSUAL = ["late", "over", "partial", "reorged"]; // exceptions: somebody has to look at the money

const TYPING_MS = 300; // between the last key and the search

export class Filter {
  #form = find("filter");
  #told = "{}";

  /** `changed` is called when other invoices are wanted. */
  constructor(changed) {
    const tell = () => {
      const wanted = JSON.stringify(this.value);
      if (wanted === this.#told) return; // one key or click makes several events
      this.#told = wanted;
      changed();
    };
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      tell();
    });
    this.#form.addEventListener("change", tell);
    let timer = 0;
    find("order").addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(tell, TYPING_MS);
    });
    find("order").addEventListener("search", tell); // also its button that empties it
    find("clear").addEventListener("click", () => {
      this.#form.reset();
      find("order").focus();
      tell();
    });
  }

  clear() {
    this.#form.reset();
    this.#told = JSON.stringify(this.value);
  }

  /** The filters as the query of an address; empty if there are none. */
  get query() {
    const chosen = new URLSearchParams();
    if (find("order").value.trim() !== "") chosen.set("search", find("order").value.trim());
    for (const box of this.#form.querySelectorAll("[name=status]:checked")) chosen.append("status", box.value);
    if (find("unusual").checked) chosen.set("unusual", "1");
    for (const id of ["since", "until"]) if (find(id).value !== "") chosen.set(id, find(id).value);
    return chosen.toString();
  }

  /** Take the filters of an address. Return whether they differ from those of the form. */
  follow(query) {
    if (query === this.query) return false;
    const chosen = new URLSearchParams(query);
    this.#form.reset();
    find("order").value = (chosen.get("search") ?? "").slice(0, find("order").maxLength);
    for (const box of this.#form.querySelectorAll("[name=status]")) box.checked = chosen.getAll("status").includes(box.value);
    find("unusual").checked = chosen.has("unusual");
    for (const id of ["since", "until"]) find(id).value = chosen.get(id) ?? "";
    this.#told = JSON.stringify(this.value);
    return true;
  }

  /** As GET /v1/invoices takes it, and `search`, which it does not. The day `until` is included. */
  get value() {
    const status = [...this.#form.querySelectorAll("[name=status]:checked")].map((box) => box.value);
    const [since, until] = [find("since").value, find("until").value];
    return {
      search: find("order").value.trim() || undefined,
      status: status.length > 0 ? status : undefined,
      exception: find("unusual").checked ? UNUSUAL : undefined,
      created_from: since === "" ? undefined : dayOf(since),
      created_to: until === "" ? undefined : dayOf(until, 1),
    };
  }
}

export const isEmpty = (value) => Object.values(value).every((wanted) => wanted === undefined);

export function passes(invoice, { search, status, exception, created_from, created_to }) {
  return (
    (search === undefined || hasPart(invoice, search.toLowerCase())) &&
    (status === undefined || status.includes(invoice.status)) &&
    (exception === undefined || exception.includes(invoice.exception)) &&
    (created_from === undefined || invoice.created_at >= created_from) &&
    (created_to === undefined || invoice.created_at < created_to)
  );
}

/** Whether a part of the invoice's names, of its address or of a hash of its payments is `part`. */
function hasPart({ external_order_id, id, deposit_address, payments }, part) {
  const names = [external_order_id, id, deposit_address, ...payments.map(({ tx_hash }) => tx_hash)];
  return names.some((name) => name.toLowerCase().includes(part));
}
