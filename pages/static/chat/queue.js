// The event queue: registers it, polls it, and registers another one when it is gone.

import { repeat } from "../client/patience.js";

const FETCHED = [
  "message",
  "realm",
  "realm_user",
  "recent_private_conversations",
  "scheduled_messages",
  "subscription",
  "update_message_flags",
  "user_settings",
];
const EVENTS = [
  "delete_message",
  "message",
  "presence",
  "reaction",
  "submessage",
  "realm_user",
  "scheduled_messages",
  "stream",
  "subscription",
  "typing",
  "update_message",
  "update_message_flags",
  "user_settings",
];
const CAPABILITIES = {
  bulk_message_deletion: true,
  empty_topic_name: true,
  simplified_presence_events: true,
  stream_typing_notifications: true,
  user_list_incomplete: true,
};

export class Queue {
  #api;
  #tell;
  #stop = new AbortController();
  #id = null;
  #lastEventId = -1;
  #timeoutMs = 90_000;

  /** `tell` has snapshot(state), events(list), trouble(failures) and refused(error). */
  constructor(api, tell) {
    this.#api = api;
    this.#tell = tell;
  }

  /** Runs until `stop`, or until the server refuses the user. */
  run() {
    const { signal } = this.#stop;
    return repeat(signal, {
      ask: (isTrial) => this.#ask(signal, isTrial),
      lose: (error) => this.#lose(error),
      trouble: this.#tell.trouble,
      refused: this.#tell.refused,
    });
  }

  /** Ends the polls and deletes the queue; the request outlives the page. */
  stop() {
    this.#stop.abort();
    const id = this.#id;
    this.#id = null;
    if (id === null) return Promise.resolve();
    return this.#api.delete("/events", { queue_id: id }, { keepalive: true }).catch(() => {});
  }

  async #ask(signal, isTrial) {
    if (this.#id === null) await this.#register(signal);
    const events = await this.#poll(signal, isTrial);
    // The server stops, or another poll took over: no reason to ask at once.
    return events.length === 0 && !isTrial ? 1000 : 0;
  }

  #lose(error) {
    // A state that events do not fit is as good as lost.
    if (error.status === undefined || error.status === 400) this.#id = null;
    return error.code === "BAD_EVENT_QUEUE_ID";
  }

  async #register(signal) {
    const state = await this.#api.post(
      "/register",
      {
        apply_markdown: true,
        client_capabilities: CAPABILITIES,
        event_types: EVENTS,
        fetch_event_types: FETCHED,
        slim_presence: true,
      },
      { signal },
    );
    this.#id = state.queue_id;
    this.#lastEventId = state.last_event_id;
    this.#timeoutMs = state.event_queue_longpoll_timeout_seconds * 1000;
    this.#tell.snapshot(state);
  }

  async #poll(signal, isTrial) {
    const asked = { queue_id: this.#id, last_event_id: this.#lastEventId, dont_block: isTrial };
    // A connection from before the network was away may be dead without a word.
    const woken = new AbortController();
    const wake = () => woken.abort(new DOMException("The network is back.", "TimeoutError"));
    addEventListener("online", wake);
    const limited = AbortSignal.any([signal, woken.signal, AbortSignal.timeout(this.#timeoutMs)]);
    let answer;
    try {
      answer = await this.#api.get("/events", asked, { signal: limited });
    } catch (error) {
      if (error.name === "TimeoutError") return []; // a dead connection
      throw error;
    } finally {
      removeEventListener("online", wake);
    }
    const { events } = answer;
    this.#tell.events(events.filter((event) => event.type !== "heartbeat"));
    if (events.length > 0) this.#lastEventId = events.at(-1).id;
    return events;
  }
}
