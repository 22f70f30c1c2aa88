// The form that says which invoices are listed: what the API is asked, and what passes here. The
// address of the page has it, so that a link or a reload shows the same list.

import { find, h } from "../client/element.js";
import { writeUnits } from "./money.js";
import { dayOf } from "./times.js";

const UNUSUAL = ["late", "over", "partial", "reorged"]; // exceptions: somebody has to look at the money

const SOUGHT_AMOUNT = /^(0|[1-9][0-9]*)(?:[.,]([0-9]+))?(?:\s*([^\s\d]\S*))?$/;
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
    find("sort").addEventListener("change", tell); // it is outside of the form
    find("unfold").addEventListener("click", ({ currentTarget }) => {
      currentTarget.ariaExpanded = String(this.#form.toggleAttribute("data-unfolded"));
    });
    find("order").addEventListener("search", tell); // also its button that empties it
    find("clear").addEventListener("click", () => {
      this.#form.reset();
      find("order").focus();
      tell();
    });
  }

  /** Offer these payment methods, if there is a choice. */
  offer(methods) {
    const field = find("by-method");
    const { value } = field;
    const names = methods.map(({ id, token_symbol }) => h("option", { value: id }, `${token_symbol} (${id})`));
    field.replaceChildren(field.options[0], ...names);
    field.value = methods.some(({ id }) => id === value) ? value : "";
    find("method-field").hidden = methods.length < 2;
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
    if (find("by-method").value !== "") chosen.set("method", find("by-method").value);
    if (find("sort").value !== "") chosen.set("sort", find("sort").value);
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
    find("by-method").value = chosen.get("method") ?? "";
    if (find("by-method").selectedIndex < 0) find("by-method").value = "";
    find("sort").value = chosen.get("sort") === "asc" ? "asc" : "";
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
      payment_method_id: find("by-method").value || undefined,
      order: find("sort").value || undefined,
      created_from: since === "" ? undefined : dayOf(since),
      created_to: until === "" ? undefined : dayOf(until, 1),
    };
  }
}

/** Whether all invoices are wanted, in whatever order. */
export const isEmpty = ({ order, ...filters }) => Object.values(filters).every((wanted) => wanted === undefined);

/** `methods` are the payment methods by id, for amounts. */
export function passes(invoice, { search, status, exception, payment_method_id, created_from, created_to }, methods) {
  return (
    (search === undefined || hasPart(invoice, search.toLowerCase()) || hasAmount(invoice, search, methods)) &&
    (payment_method_id === undefined || invoice.payment_method_id === payment_method_id) &&
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

/** Whether the invoice or a payment of it has this amount, such as `12.5`, `12,50` or `12.5 TUSD`. */
function hasAmount({ amount, payments, payment_method_id }, text, methods) {
  const method = methods.get(payment_method_id);
  const [, whole, fraction = "", symbol = ""] = SOUGHT_AMOUNT.exec(text.replace(/(?<=\d)\s(?=\d)/g, "")) ?? [];
  if (method === undefined || whole === undefined) return false;
  if (symbol !== "" && symbol.toLowerCase() !== method.token_symbol.toLowerCase()) return false;
  const digits = fraction.replace(/0+$/, "");
  const sought = digits === "" ? whole : `${whole}.${digits}`;
  return [amount, ...payments.map((payment) => payment.amount)].some((atoms) => writeUnits(atoms, method.decimals) === sought);
}

/** What the API itself can find: the hash of a transaction or a deposit address, if it is whole. */
export function wholeOf(search = "") {
  if (/^0x[0-9a-f]{64}$/i.test(search)) return { tx_hash: search };
  if (/^0x[0-9a-f]{40}$/i.test(search)) return { deposit_address: search };
  return {};
}
