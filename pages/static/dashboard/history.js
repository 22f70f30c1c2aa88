// What happened to the open invoice, in order: the events that are kept, and those that come.

import { find, h } from "../client/element.js";
import { insist } from "../client/patience.js";
import { badge } from "./badge.js";
import { secondOf } from "./times.js";
import { describeEvent } from "./wording.js";

export class History {
  #app;
  #events = new Map(); // by id, and ids ascend
  #isRead = false;

  constructor(app) {
    this.#app = app;
  }

  /** Read all events of an invoice. Raises what the API refuses. */
  async open(invoiceId, signal) {
    this.#events.clear();
    this.#isRead = false;
    this.#draw();
    const { api } = this.#app;
    let after;
    for (let hasMore = true; hasMore; ) {
      const asked = { invoice_id: invoiceId, after, limit: 100 };
      const page = await insist(signal, () => api.get("/events", asked, signal));
      signal.throwIfAborted(); // another reading has begun
      for (const event of page.data) this.#events.set(event.id, event);
      after = page.next_cursor ?? undefined;
      hasMore = page.has_more;
    }
    this.#isRead = true;
    this.#draw();
  }

  /** Add an event of the invoice. */
  add(event) {
    this.#events.set(event.id, event);
    this.#draw();
  }

  has(eventId) {
    return this.#events.has(eventId);
  }

  #draw() {
    const events = [...this.#events.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
    find("events").replaceChildren(...events.map(draw));
    find("no-events").hidden = !this.#isRead || events.length > 0;
  }
}

function draw({ id, type, created_at }) {
  const about = h("span", { class: "muted" }, h("code", {}, type), " ", h("code", {}, id));
  return h("li", {}, badge(describeEvent(type)), secondOf(created_at), about);
}
