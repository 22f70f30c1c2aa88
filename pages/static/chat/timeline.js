// The messages of the place that is open: the newest first of all, older ones on demand, and live.

import { announce, find, h, reconcile } from "../client/element.js";
import { openFile } from "./attaching.js";
import { draw, follows, redrawReactions } from "./message.js";
import { addressOf, contains, keyOf, narrowOf, placeOf } from "./places.js";
import { applySubmessage, redrawPoll } from "./polls.js";
import { applyReaction } from "./reactions.js";
import { wordsOf } from "./rendered.js";
import { placeMovedTo } from "./state.js";
import { dayOf, writeDay } from "./times.js";

const PAGE = 50;
const NEAR_PX = 80;
const MOMENT_MS = 150;

export class Timeline {
  #app;
  #list = find("messages");
  #scroller = find("timeline");
  #older = find("older");
  #below = find("below");
  #place = null;
  #messages = new Map(); // id -> message, of the place
  #items = new Map(); // id -> element
  #marks = new Map(); // text and place of a heading -> element
  #firstUnread = null;
  #loading = null; // what has to wait for the messages under way: events
  #marking = new Set();
  #timer = 0;

  constructor(app) {
    this.#app = app;
    this.#older.addEventListener("click", () => this.#loadOlder());
    this.#below.addEventListener("click", () => this.#toBottom());
    this.#list.addEventListener("click", (event) => openFile(app, event));
    this.#scroller.addEventListener("scroll", () => this.#isAtBottom() && this.#arrive());
    document.addEventListener("visibilitychange", () => this.markRead());
  }

  /** Show a place from its newest messages on. */
  async open(place) {
    this.#place = place;
    for (const kept of [this.#messages, this.#items, this.#marks]) kept.clear();
    this.#list.replaceChildren();
    this.#older.hidden = this.#below.hidden = true;
    this.#firstUnread = this.#app.state.unread.within(place)[0] ?? null;
    this.#scroller.setAttribute("aria-busy", "true");
    const isLoaded = await this.#load(place, { anchor: "newest" });
    if (this.#place === place) this.#scroller.setAttribute("aria-busy", "false");
    if (isLoaded) this.#toBottom();
  }

  close() {
    this.#place = null;
    this.#list.replaceChildren();
  }

  async #loadOlder() {
    const height = this.#scroller.scrollHeight - this.#scroller.scrollTop;
    const first = Math.min(...this.#messages.keys());
    this.#older.disabled = true;
    await this.#load(this.#place, { anchor: String(first), include_anchor: false });
    this.#older.disabled = false;
    this.#scroller.scrollTop = this.#scroller.scrollHeight - height;
    if (this.#older.hidden) this.#scroller.focus();
  }

  /** False when another place was opened meanwhile, or the server refused. */
  async #load(place, range) {
    const { api, state } = this.#app;
    const waiting = (this.#loading = []);
    try {
      const answer = await api.get("/messages", {
        narrow: narrowOf(place),
        num_before: PAGE,
        num_after: 0,
        allow_empty_topic_name: true,
        ...range,
      });
      if (this.#place !== place || this.#app.state !== state) return false;
      for (const message of answer.messages) this.#messages.set(message.id, message);
      this.#older.hidden = answer.found_oldest;
    } catch (error) {
      if (this.#place === place) this.#app.complain(error);
      return false;
    } finally {
      if (this.#loading === waiting) this.#loading = null;
    }
    for (const event of waiting) this.#apply(event);
    this.#lay();
    return true;
  }

  apply(event) {
    if (this.#place === null) return;
    if (this.#loading !== null) this.#loading.push(event);
    else if (this.#apply(event)) this.#lay();
  }

  /** Whether the event changed what is shown. */
  #apply(event) {
    if (event.type === "message") return this.#receive(event);
    if (event.type === "update_message") return this.#update(event);
    if (event.type === "reaction") return this.#react(event);
    if (event.type === "submessage") return this.#vote(event);
    if (event.type !== "delete_message") return false;
    for (const id of event.message_ids) this.#forget(id);
    return true;
  }

  #receive({ message }) {
    if (!contains(this.#place, placeOf(message, this.#app.state.me))) return false;
    this.#messages.set(message.id, message);
    return true;
  }

  #update(event) {
    for (const id of event.message_ids) {
      const message = this.#messages.get(id);
      if (message === undefined) continue;
      if (event.orig_subject !== undefined) {
        const { channelId, topic } = placeMovedTo(event);
        Object.assign(message, { stream_id: channelId, subject: topic });
        if (!contains(this.#place, { channelId, topic })) this.#forget(id);
      }
      if (event.rendered_content !== undefined && id === event.message_id) {
        message.content = event.rendered_content;
        if (event.user_id !== null && !event.rendering_only) message.last_edit_timestamp = event.edit_timestamp;
        this.#items.delete(id); // is drawn again
      }
    }
    return true;
  }

  #react(event) {
    const message = this.#messages.get(event.message_id);
    if (message === undefined) return false;
    applyReaction(message, event);
    this.#redraw(redrawReactions, message);
    return true;
  }

  #vote(event) {
    const message = this.#messages.get(event.message_id);
    if (message === undefined) return false;
    applySubmessage(message, event);
    this.#redraw(redrawPoll, message);
    return true;
  }

  #redraw(redraw, message) {
    const item = this.#items.get(message.id);
    try {
      if (item) redraw(this.#app, message, item);
    } catch {
      this.#items.delete(message.id); // is drawn again as its words
    }
  }

  #forget(id) {
    this.#messages.delete(id);
    this.#items.delete(id);
  }

  /** Bring the list in line with the messages. */
  #lay() {
    const { state } = this.#app;
    const wasAtBottom = this.#isAtBottom();
    const wanted = [];
    let before;
    for (const message of [...this.#messages.values()].sort((one, other) => one.id - other.id)) {
      const place = placeOf(message, state.me);
      const marks = wanted.length;
      if (before === undefined || dayOf(before.timestamp) !== dayOf(message.timestamp))
        wanted.push(this.#mark("day", writeDay(message.timestamp), dayOf(message.timestamp)));
      if (message.id === this.#firstUnread) wanted.push(this.#mark("new", "New"));
      if (this.#place.topic === undefined && !this.#place.userIds) {
        const isOther = before === undefined || keyOf(placeOf(before, state.me)) !== keyOf(place);
        if (isOther || wanted.length > marks) wanted.push(this.#heading(place, message.id));
      }
      if (!this.#items.has(message.id)) this.#items.set(message.id, draw(this.#app, message));
      const item = this.#items.get(message.id);
      item.classList.toggle("follows", wanted.length === marks && follows(message, before));
      wanted.push(item);
      before = message;
    }
    reconcile(this.#list, wanted);
    find("none").hidden = wanted.length > 0;
    find("none").textContent = this.#place.search === undefined ? "No messages yet." : "No message has these words.";
    if (wasAtBottom) this.#toBottom();
    else this.#below.hidden = this.#app.state.unread.count(this.#place) === 0;
  }

  #mark(kind, text, key = "") {
    const name = `${kind} ${key}`;
    if (!this.#marks.has(name)) this.#marks.set(name, h("li", { class: `mark ${kind}` }, h("span", {}, text)));
    return this.#marks.get(name);
  }

  #heading(place, messageId) {
    const name = `heading ${keyOf(place)} ${messageId}`;
    if (!this.#marks.has(name)) {
      const { state } = this.#app;
      const title = this.#place.search === undefined ? state.topicName(place.topic) : state.titleOf(place);
      const link = h("a", { href: addressOf(place) }, title);
      this.#marks.set(name, h("li", { class: "mark topic" }, link));
    }
    return this.#marks.get(name);
  }

  #isAtBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #toBottom() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#arrive();
  }

  #arrive() {
    this.#below.hidden = true;
    this.markRead();
  }

  /** Tell the server that what is unread here has been seen: one request for all of a moment. */
  markRead() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#markRead(), MOMENT_MS);
  }

  async #markRead() {
    if (this.#place === null || this.#loading !== null || document.hidden || !this.#isAtBottom()) return;
    const ids = this.#app.state.unread.within(this.#place).filter((id) => !this.#marking.has(id));
    if (ids.length === 0) return;
    for (const id of ids) this.#marking.add(id);
    try {
      await this.#app.api.post("/messages/flags", { messages: ids, op: "add", flag: "read" });
    } catch {
      // They stay unread, and the next look tries again.
    }
    for (const id of ids) this.#marking.delete(id);
  }
}

/** Say who wrote what to somebody who listens. */
export function announceMessage(state, message) {
  if (message.sender_id === state.me) return;
  const place = state.titleOf(placeOf(message, state.me));
  announce(`${message.sender_full_name}, ${place}: ${wordsOf(message.content)}`);
}
