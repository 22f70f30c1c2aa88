// The attempts to deliver the events of the open invoice, at all endpoints.

import { find } from "../client/element.js";
import { AttemptTable } from "./attempts.js";
import { Attempts, Looks, readEndpoints, sendAgain } from "./webhooks.js";

const LIMIT = 100;
const PAGES = 3; // of an endpoint, before somebody asks for more

export class Deliveries {
  #app;
  #history;
  #looks = new Looks(() => this.#renew());
  #table = new AttemptTable(find("deliveries"), {
    hasEndpoint: true,
    sendAgain: (attempt) => this.#try(() => this.#sendAgain(attempt)),
  });
  #endpoints = null; // until they are read
  #since = 0;
  #signal;

  constructor(app, history) {
    this.#app = app;
    this.#history = history;
    find("look-back").addEventListener("click", () => this.#try(() => this.#lookBack()));
  }

  /** Read the attempts since the invoice was created. Raises what the API refuses. */
  async open(invoice, signal) {
    this.#signal = signal;
    this.#since = invoice.created_at;
    const endpoints = await readEndpoints(this.#app.api, signal);
    this.#endpoints = endpoints.map((endpoint) => new Attempts(endpoint, LIMIT));
    await this.#lookBack();
  }

  close() {
    this.#looks.stop();
    this.#endpoints = null;
    this.#table.forget();
    for (const id of ["look-back", "no-endpoints", "no-deliveries"]) find(id).hidden = true;
  }

  /** The invoice has a new event, which is about to be sent. */
  expect() {
    this.#looks.soon();
  }

  draw() {
    if (this.#endpoints === null) return;
    const all = this.#endpoints.flatMap(({ all }) => all);
    const own = all.filter(({ event_id }) => this.#history.has(event_id));
    this.#table.draw(own);
    find("no-endpoints").hidden = this.#endpoints.length > 0;
    find("no-deliveries").hidden = this.#endpoints.length === 0 || own.length > 0;
    find("look-back").hidden = !this.#endpoints.some((attempts) => this.#isOpen(attempts));
  }

  /** Whether there may be attempts of the invoice that are not read. */
  #isOpen({ hasMore, oldest }) {
    return hasMore && oldest >= this.#since;
  }

  async #lookBack() {
    for (const attempts of this.#endpoints)
      for (let page = 0; page < PAGES && this.#isOpen(attempts); page += 1)
        await attempts.readOn(this.#app.api, this.#signal);
    this.draw();
  }

  #renew() {
    if (this.#endpoints === null) return;
    this.#try(async () => {
      for (const attempts of this.#endpoints) await attempts.renew(this.#app.api, this.#signal);
      this.draw();
    });
  }

  async #sendAgain(attempt) {
    await sendAgain(this.#app.api, attempt);
    this.#looks.soon();
  }

  async #try(work) {
    const { api } = this.#app;
    const signal = this.#signal;
    try {
      await work();
    } catch (error) {
      if (!signal.aborted) this.#app.fail(api, error);
    }
  }
}
