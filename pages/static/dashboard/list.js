// The list of invoices: pages of the API, and what the events change in them.

import { announce, find, h, markCurrent, reconcile } from "../client/element.js";
import { insist } from "../client/patience.js";
import { badge } from "./badge.js";
import { Filter, isEmpty, passes, wholeOf } from "./filter.js";
import { byAge } from "./invoices.js";
import { alignedAmount } from "./money.js";
import { addressOf, INVOICES, invoicePlace } from "./places.js";
import { minuteOf } from "./times.js";
import { describe } from "./wording.js";

// What is read of the list ends at an invoice, before all of them or behind.
const NOTHING = { created_at: Infinity, id: "" };
const LIMIT = 100; // invoices of each page but the first
const MOST_SEARCHED = 5000; // invoices that a search reads before somebody asks for more
const EVERYTHING = { created_at: -Infinity, id: "" };

export class List {
  #app;
  filter = new Filter(() => this.#change());
  #wanted = {};
  #end = NOTHING;
  #cursor = null;
  #readCount = 0;
  #nearEnd;
  #rows = new Map(); // id -> {invoice, element}
  #loading = new AbortController();

  constructor(app) {
    this.#app = app;
    find("more").addEventListener("click", () => this.#read());
    this.#nearEnd = new IntersectionObserver((entries) => {
      // A search has read much already: what it reads beyond that, somebody asks for.
      if (entries.at(-1).isIntersecting && this.#wanted.search === undefined && !find("more").disabled) this.#read();
    });
    this.#nearEnd.observe(find("more"));
    find("export").addEventListener("click", () => this.#export("export", "invoices", this.#wanted));
    find("export-payments").addEventListener("click", () => this.#export("export-payments", "payments", {}));
  }

  /** Save the invoices that pass the filters as CSV, those that are not shown too. */
  async #export(id, subject, wanted) {
    const button = find(id);
    if (button.ariaBusy === "true") return;
    const { search, ...filters } = wanted;
    const isWhole = Object.keys(wholeOf(search)).length > 0;
    if (search !== undefined && !isWhole && !this.#app.invoices.select((it) => it.external_order_id === search).length)
      return this.#app.fail(this.#app.api, { status: 0, message: "An export is filtered by a whole order id, address or transaction only. Complete or clear the search." });
    button.ariaBusy = "true";
    const { api } = this.#app;
    try {
      const sought = isWhole ? wholeOf(search) : { external_order_id: search };
      const file = await api.file(`/${subject}.csv`, { ...filters, ...sought });
      if (this.#app.api !== api) return;
      const link = h("a", { href: URL.createObjectURL(file), download: `${subject}.csv` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
      announce(`The ${subject} are saved as CSV.`);
    } catch (error) {
      this.#app.fail(api, error);
    } finally {
      button.ariaBusy = "false";
    }
  }

  /** The address of the list as it is filtered. */
  get address() {
    const { query } = this.filter;
    return query === "" ? addressOf(INVOICES) : `${addressOf(INVOICES)}?${query}`;
  }

  /** Show the filters of an address of the list. */
  follow(address) {
    if (this.filter.follow(address.split("?")[1] ?? "")) this.load();
    this.#writeLinks();
  }

  /** Bring the row of an invoice into sight. */
  reveal(id) {
    this.#rows.get(id)?.element.scrollIntoView({ block: "nearest" });
  }

  #change() {
    if (this.#app.place.view === "invoices" && this.#app.place.invoiceId === null) history.pushState(null, "", this.address);
    this.#writeLinks();
    this.load();
  }

  #writeLinks() {
    for (const link of document.querySelectorAll("#to-invoices, #invoice .back")) link.href = this.address;
  }

  forget() {
    this.#loading.abort();
    this.filter.clear();
    this.#rows.clear();
    this.#end = NOTHING;
    find("invoices").replaceChildren();
    find("count").textContent = "";
    for (const id of ["more", "none", "none-found"]) find(id).hidden = true;
  }

  /** Read the list from its beginning. */
  load() {
    this.#wanted = this.filter.value;
    this.#end = NOTHING;
    this.#cursor = null;
    this.#readCount = 0;
    find("clear").hidden = isEmpty(this.#wanted);
    this.#read();
  }

  async #read() {
    this.#loading.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    const { api, invoices } = this.#app;
    const { moment } = invoices;
    const wanted = this.#wanted;
    const { search, ...filters } = wanted;
    const others = { ...filters, ...wholeOf(search) };
    find("invoices").setAttribute("aria-busy", "true");
    find("more").disabled = true;
    let isRead = false;
    try {
      let page;
      let count = 0;
      do {
        const limit = this.#cursor === null && search === undefined ? undefined : LIMIT;
        const asked = { ...others, limit, cursor: this.#cursor ?? undefined };
        page = await insist(signal, () => api.get("/invoices", asked, signal));
        if (signal.aborted || wanted !== this.#wanted) return;
        for (const invoice of page.data) invoices.read(invoice, moment);
        count += page.data.length;
        this.#readCount += page.data.length;
        this.#cursor = page.next_cursor;
        this.#end = page.has_more ? (page.data.at(-1) ?? this.#end) : EVERYTHING;
        this.draw();
        // The API finds whole order ids only: for a part, the older invoices are read as well.
      } while (search !== undefined && page.has_more && count < MOST_SEARCHED);
      isRead = true;
    } catch (error) {
      if (signal.aborted) return;
      this.#app.fail(api, error);
    }
    find("invoices").setAttribute("aria-busy", "false");
    find("more").disabled = false;
    if (!isRead) return; // somebody asks again
    // The observer reports changes only, and the button may still be in sight.
    this.#nearEnd.unobserve(find("more"));
    this.#nearEnd.observe(find("more"));
  }

  draw() {
    if (this.#end === NOTHING) return;
    const isWhole = this.#end === EVERYTHING;
    const isAscending = this.#wanted.order === "asc";
    const isRead = (invoice) => isWhole || (isAscending ? byAge(invoice, this.#end) >= 0 : byAge(invoice, this.#end) <= 0);
    const { methods, invoices } = this.#app;
    const shown = invoices.select((invoice) => passes(invoice, this.#wanted, methods) && isRead(invoice));
    if (isAscending) shown.reverse();
    reconcile(find("invoices"), shown.map((invoice) => this.#row(invoice)));
    find("more").hidden = isWhole;
    find("none").hidden = shown.length > 0 || !isWhole || !isEmpty(this.#wanted);
    find("none-found").hidden = shown.length > 0 || !isWhole || isEmpty(this.#wanted);
    find("columns").hidden = shown.length === 0;
    const count = `${shown.length} ${shown.length === 1 ? "invoice" : "invoices"}`;
    const end = isAscending ? "oldest" : "newest";
    const part = this.#wanted.search === undefined ? `The ${end} ${count}` : `${count} found in the ${end} ${this.#readCount}`;
    const said = isWhole ? count : part;
    find("more").textContent = isAscending ? "Newer invoices" : "Older invoices";
    if (find("count").textContent !== said) find("count").textContent = said; // it is read aloud
  }

  /** Draw the rows anew, since what amounts mean has changed. */
  redraw() {
    this.#rows.clear();
    this.draw();
  }

  focus(id) {
    (this.#rows.get(id)?.element.firstChild ?? find("order")).focus();
  }

  /** A row that somebody is about to click stays what it is. */
  #row(invoice) {
    const { place, methods } = this.#app;
    const known = this.#rows.get(invoice.id);
    const element = known?.element ?? makeRow(invoice.id);
    const link = element.firstChild;
    if (known?.invoice !== invoice) {
      const isChange = known !== undefined && describe(known.invoice).words !== describe(invoice).words;
      if (isChange) element.classList.add("fresh");
      link.replaceChildren(
        h("span", { class: "state" }, badge(describe(invoice))),
        h("span", { class: "order" }, invoice.external_order_id, attemptOf(invoice)),
        h("span", { class: "sum" }, alignedAmount(invoice.amount, methods.get(invoice.payment_method_id))),
        h("span", { class: "age" }, minuteOf(invoice.created_at)),
      );
      this.#rows.set(invoice.id, { invoice, element });
    }
    markCurrent(link, place.invoiceId === invoice.id);
    return element;
  }
}

function makeRow(id) {
  const row = h("li", {}, h("a", { href: addressOf(invoicePlace(id)) }));
  row.addEventListener("animationend", () => row.classList.remove("fresh"));
  return row;
}

const attemptOf = ({ attempt_no }) => attempt_no > 1 && h("span", { class: "muted" }, ` attempt ${attempt_no}`);
