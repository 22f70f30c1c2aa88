// The event feed: where it begins, the long poll, and a new beginning when the place is lost.

import { repeat } from "../client/patience.js";

const WAIT_S = 30;
const DEAD_MS = 45_000; // without an answer
const STALE_MS = 600_000; // then reading everything anew is cheaper, and events may be gone
const PAGE = 100;

export class Feed {
  #api;
  #tell;
  #stop = new AbortController();
  #hasBegun = false;
  #after;
  #heardAt = 0;
  #waitedMs = 0;

  /** `tell` has begun(), events(list), trouble(failures) and refused(error). */
  constructor(api, tell) {
    this.#api = api;
    this.#tell = tell;
  }

  /** Runs until `stop`, or until the server refuses the key. */
  run() {
    const { signal } = this.#stop;
    return repeat(signal, {
      ask: (isTrial) => this.#ask(signal, isTrial),
      lose: (error) => this.#lose(error),
      trouble: this.#tell.trouble,
      refused: this.#tell.refused,
    });
  }

  stop() {
    this.#stop.abort();
  }

  async #ask(signal, isTrial) {
    if (this.#hasBegun && Date.now() - this.#heardAt > STALE_MS) this.#hasBegun = false;
    if (!this.#hasBegun) await this.#begin(signal);
    const events = await this.#poll(signal, isTrial);
    this.#heardAt = Date.now();
    const isEarly = events.length === 0 && this.#waitedMs < (WAIT_S - 1) * 1000;
    return isEarly && !isTrial ? 1000 : 0; // the server stops: no reason to ask at once
  }

  #lose(error) {
    // A place that the server does not know, or events that the page could not apply.
    const isLost = error.status === undefined || error.status === 422;
    if (isLost) this.#hasBegun = false;
    return error.status === 422;
  }

  /** The last event of the newest invoice: what was before it is in every list that is read from
   *  now on, and little has come since. Where there is no invoice, there is hardly an event. */
  async #begin(signal) {
    const newest = await this.#api.get("/invoices", { limit: 1 }, signal);
    this.#after = undefined;
    if (newest.data.length > 0) {
      const events = await this.#api.get("/events", { invoice_id: newest.data[0].id, limit: PAGE }, signal);
      this.#after = events.next_cursor ?? undefined;
    }
    this.#hasBegun = true;
    this.#heardAt = Date.now();
    this.#tell.begun();
  }

  async #poll(signal, isTrial) {
    const asked = { after: this.#after, limit: PAGE, wait_s: isTrial ? 0 : WAIT_S };
    const limited = AbortSignal.any([signal, AbortSignal.timeout(DEAD_MS)]);
    const since = Date.now();
    let page;
    try {
      page = await this.#api.get("/events", asked, limited);
    } catch (error) {
      if (error.name === "TimeoutError") return []; // a dead connection
      throw error;
    } finally {
      this.#waitedMs = Date.now() - since;
    }
    this.#tell.events(page.data);
    this.#after = page.next_cursor ?? undefined;
    return page.data;
  }
}
