// The webhook endpoints of the project as the API tells of them, and how far their attempts are read.

import { announce } from "../client/element.js";
import { insist } from "../client/patience.js";

const LOOKS_MS = [700, 2500, 8000, 20_000, 60_000]; // after an event: no event tells of its delivery

/** The endpoints, the oldest first. Raises what the API refuses. */
export async function readEndpoints(api, signal) {
  const { data } = await insist(signal, () => api.get("/webhook-endpoints", {}, signal));
  return data;
}

/** Send the event of an attempt to its endpoint once more, now. Raises what the API refuses. */
export async function sendAgain(api, { endpoint, event_id }) {
  await api.post(`/webhook-endpoints/${endpoint.id}/deliveries/${event_id}/redeliver`);
  announce("The event is being sent again.");
}

/** The attempts at one endpoint, read from the newest on. */
export class Attempts {
  #known = new Map(); // by id
  #cursor;

  constructor(endpoint, limit) {
    this.endpoint = endpoint;
    this.limit = limit;
    this.hasMore = true;
    this.oldest = Infinity; // time of the last one that was read
  }

  get all() {
    return [...this.#known.values()];
  }

  /** Read the newest once more. */
  async renew(api, signal) {
    const page = await this.#read(api, signal, undefined);
    if (this.#cursor === undefined) this.#goOn(page);
  }

  /** Read a page behind what is read. */
  async readOn(api, signal) {
    this.#goOn(await this.#read(api, signal, this.#cursor));
  }

  async #read(api, signal, cursor) {
    const path = `/webhook-endpoints/${this.endpoint.id}/deliveries`;
    const page = await insist(signal, () => api.get(path, { limit: this.limit, cursor }, signal));
    for (const attempt of page.data) this.#known.set(attempt.id, { ...attempt, endpoint: this.endpoint });
    return page;
  }

  #goOn(page) {
    this.#cursor = page.next_cursor ?? undefined;
    this.hasMore = page.has_more;
    this.oldest = page.data.at(-1)?.at ?? this.oldest;
  }
}

/** Looks a few times after `soon`, then less and less often, until `stop`. */
export class Looks {
  #look;
  #timers = [];

  constructor(look) {
    this.#look = look;
  }

  soon() {
    this.stop();
    this.#timers = LOOKS_MS.map((ms) => setTimeout(this.#look, ms));
  }

  stop() {
    this.#timers.forEach(clearTimeout);
    this.#timers = [];
  }
}
