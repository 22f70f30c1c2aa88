// The form that says which invoices are listed: what the API is asked, and what passes here.

import { find } from "../client/element.js";
import { dayOf } from "./times.js";

const UNUSUAL = ["late", "over", "partial", "reorged"]; // exceptions: somebody has to look at the money

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

  /** As GET /v1/invoices takes it. The day `until` is one of those listed. */
  get value() {
    const status = [...this.#form.querySelectorAll("[name=status]:checked")].map((box) => box.value);
    const [since, until] = [find("since").value, find("until").value];
    return {
      external_order_id: find("order").value.trim() || undefined,
      status: status.length > 0 ? status : undefined,
      exception: find("unusual").checked ? UNUSUAL : undefined,
      created_from: since === "" ? undefined : dayOf(since),
      created_to: until === "" ? undefined : dayOf(until, 1),
    };
  }
}

export const isEmpty = (value) => Object.values(value).every((wanted) => wanted === undefined);

export function passes(invoice, { external_order_id, status, exception, created_from, created_to }) {
  return (
    (external_order_id === undefined || invoice.external_order_id === external_order_id) &&
    (status === undefined || status.includes(invoice.status)) &&
    (exception === undefined || exception.includes(invoice.exception)) &&
    (created_from === undefined || invoice.created_at >= created_from) &&
    (created_to === undefined || invoice.created_at < created_to)
  );
}
