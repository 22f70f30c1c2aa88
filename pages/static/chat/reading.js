// What the user has seen, told to the server: the read state belongs to the account, so it changes
// for what was shown and nothing else.

import { insist } from "../client/patience.js";
import { narrowOf } from "./places.js";

const BATCH = 1000; // messages of one request; the API takes 5,000
const ALWAYS = 1; // web_mark_read_on_scroll_policy
const NEVER = 3;

/** Whether what is shown in a place counts as read. A search shows messages outside their places. */
export function marksAsRead(place, policy) {
  if (place.channelId === undefined && place.userIds === undefined) return false;
  const isChannel = place.channelId !== undefined && place.topic === undefined;
  return isChannel ? policy === ALWAYS : policy !== NEVER;
}

/** The ids of the items whose end is in view. `items` has [id, {top, bottom}], `view` {top, bottom}. */
export function idsInView(items, view) {
  return items.filter(([, { bottom }]) => bottom > view.top && bottom <= view.bottom + 1).map(([id]) => id);
}

export class Reader {
  #app;
  #waiting = new Set(); // to be told
  #told = new Set(); // to be told, or told while the event of it has not come
  #held = new Set(); // marked as unread by the user, so being in view does not count
  #isTelling = false;
  #stop = new AbortController();

  constructor(app) {
    this.#app = app;
  }

  /** These messages have been seen. */
  see(ids) {
    for (const id of ids) {
      if (this.#told.has(id) || this.#held.has(id)) continue;
      this.#told.add(id);
      this.#waiting.add(id);
    }
    if (!this.#isTelling && this.#waiting.size > 0) this.#tell();
  }

  apply(event) {
    if (event.type !== "update_message_flags" || event.flag !== "read") return;
    for (const id of event.messages) {
      this.#told.delete(id);
      if (event.op === "remove") this.#held.add(id);
    }
  }

  /** Another place is open: what the user marked as unread counts as read when it is seen again. */
  turn() {
    this.#held.clear();
  }

  /** Mark everything in a place as read, shown or not. Raises ApiError. */
  async seeAll(place) {
    const narrow = [...narrowOf(place), { operator: "is", operand: "unread" }];
    let range = { anchor: "oldest", include_anchor: true };
    for (let isDone = false; !isDone; ) {
      const asked = { ...range, num_before: 0, num_after: BATCH, narrow, op: "add", flag: "read" };
      const answer = await this.#app.api.post("/messages/flags/narrow", asked);
      isDone = answer.found_newest || answer.last_processed_id === null;
      range = { anchor: String(answer.last_processed_id), include_anchor: false };
    }
  }

  forget() {
    this.#stop.abort();
    this.#stop = new AbortController();
    for (const kept of [this.#waiting, this.#told, this.#held]) kept.clear();
  }

  async #tell() {
    const { api } = this.#app;
    const { signal } = this.#stop;
    this.#isTelling = true;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const messages = [...this.#waiting].slice(0, BATCH);
      try {
        // It outlives the page: what was seen before a reload was seen.
        const ask = () => api.post("/messages/flags", { messages, op: "add", flag: "read" }, { keepalive: true });
        await insist(signal, ask);
      } catch {
        for (const id of messages) this.#told.delete(id); // a later look tells it again
      }
      if (!signal.aborted) for (const id of messages) this.#waiting.delete(id);
    }
    this.#isTelling = false;
  }
}
