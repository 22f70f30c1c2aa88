// The invoices that the page knows, each as the last that was told of it. No clock decides what is
// last: events come in the order of the changes, and an answer is older than an event that came
// while it was waited for.

export class Invoices {
  #known = new Map(); // id -> {invoice, told}: how many events there had been with its own
  #events = 0;

  /** To be asked before a request, whose answer goes to `read` with it. */
  get moment() {
    return this.#events;
  }

  /** An event brought this invoice. */
  tell(invoice) {
    this.#events += 1;
    this.#known.set(invoice.id, { invoice, told: this.#events });
  }

  /** The answer to a request that was sent at `moment` brought this invoice. */
  read(invoice, moment) {
    const told = this.#known.get(invoice.id)?.told ?? 0;
    if (told <= moment) this.#known.set(invoice.id, { invoice, told });
  }

  get(id) {
    return this.#known.get(id)?.invoice;
  }

  /** Those that pass, the newest first as the API lists them. */
  select(passes) {
    const all = [...this.#known.values()].map(({ invoice }) => invoice);
    return all.filter(passes).sort(byAge);
  }
}

/** Negative where `one` comes before `other`. Both have `created_at` and `id`. */
export function byAge(one, other) {
  if (one.created_at !== other.created_at) return other.created_at - one.created_at;
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0;
}
