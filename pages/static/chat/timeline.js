// The messages of the place that is open: a window onto them that begins at the first unread one, or
// at the one that a link names. It is loaded both ways and is live at its end.

import { announce, find, h, reconcile } from "../client/element.js";
import { openFile } from "./attaching.js";
import { draw, follows, redrawContent, redrawReactions } from "./message.js";
import { addressOf, contains, isView, keyOf, narrowOf, placeAt, placeOf } from "./places.js";
import { applySubmessage, redrawPoll } from "./polls.js";
import { applyReaction } from "./reactions.js";
import { idsInView, marksAsRead, Reader } from "./reading.js";
import { wordsOf } from "./rendered.js";
import { placeMovedTo } from "./state.js";
import { dayOf, writeDay } from "./times.js";

const PAGE = 50;
const MOST = 400; // messages in the list: each costs memory and time, so the far end goes
const NEAR_PX = 80;
const AHEAD_PX = 600; // how near to an end more is loaded
const CONTEXT_PX = 90; // of what is read already, above the first unread message
const MOMENT_MS = 150;

export class Timeline {
  #app;
  #list = find("messages");
  #scroller = find("timeline");
  #older = find("older");
  #newer = find("newer");
  #below = find("below");
  #readAll = find("read-all");
  #reader;
  #place = null;
  #messages = new Map(); // id -> message, of the place
  #items = new Map(); // id -> element
  #marks = new Map(); // text and place of a heading -> element
  #hasOldest = false;
  #hasNewest = false; // so that what is sent now comes right after what is in the list
  #isStuck = false; // to the end of the list
  #firstUnread = null;
  #loading = null; // what has to wait for the messages under way: events
  #hasFailed = false;
  #timer = 0;

  constructor(app) {
    this.#app = app;
    this.#reader = new Reader(app);
    this.#older.addEventListener("click", () => this.#extend("older"));
    this.#newer.addEventListener("click", () => this.#extend("newer"));
    this.#below.addEventListener("click", () => this.showNewest());
    this.#readAll.addEventListener("click", () => this.#markAll());
    this.#list.addEventListener("click", (event) => this.#click(event));
    this.#scroller.addEventListener("scroll", () => this.#scrolled());
    document.addEventListener("visibilitychange", () => this.#lookSoon());
    document.addEventListener("close", () => this.#lookSoon(), true); // a dialog that was in front
    addEventListener("focus", () => this.#lookSoon());
    // What is at the end stays in view when the field below grows or a picture comes.
    const resized = new ResizeObserver(() => {
      if (this.#isStuck && this.#place !== null) this.#stick();
      this.#lookSoon();
    });
    for (const element of [this.#scroller, this.#list]) resized.observe(element);
  }

  /** Show a place: from the message that it names on, else from the first unread one. With `stays`,
   *  the place is open already and stays where it is. */
  async open(place, { stays = false } = {}) {
    if (!stays && this.#place !== null && keyOf(place) === keyOf(this.#place) && this.#messages.has(place.near)) {
      this.#place = place;
      return this.#goTo(place.near);
    }
    const kept = stays && !this.#isStuck ? this.#topItem() : null;
    const isAtEnd = isView(place) || (stays && this.#isStuck);
    this.#place = place;
    if (!stays) this.#reader.turn();
    this.#empty();
    this.#firstUnread = this.#app.state.unread.within(place)[0] ?? null;
    const anchor = kept?.id ?? (stays ? undefined : place.near) ?? (isAtEnd ? "newest" : "first_unread");
    if (!(await this.#load(place, { anchor: String(anchor), num_before: PAGE, num_after: PAGE }))) return;
    if (kept !== null && this.#items.has(kept.id)) this.#restore(kept);
    else if (!stays && place.near !== undefined) await this.#find(place);
    else this.#begin();
    this.#settle();
  }

  close() {
    this.#place = null;
    this.#empty();
  }

  /** Forget what the user has seen and is not told yet. */
  forget() {
    this.close();
    this.#reader.forget();
  }

  /** Load what could not be loaded while the server was away. */
  recover() {
    if (!this.#hasFailed || this.#place === null) return;
    this.#hasFailed = false;
    if (this.#messages.size === 0) this.open(this.#place);
    else this.#scrolled();
  }

  /** Go to the end of the place. */
  async showNewest() {
    const place = this.#place;
    if (!this.#hasNewest) {
      this.#empty();
      if (!(await this.#load(place, { anchor: "newest", num_before: PAGE, num_after: 0 }))) return;
    }
    this.#toBottom();
    this.#settle();
  }

  #empty() {
    for (const kept of [this.#messages, this.#items, this.#marks]) kept.clear();
    this.#list.replaceChildren();
    this.#hasOldest = this.#hasNewest = this.#isStuck = this.#hasFailed = false;
    for (const part of [this.#older, this.#newer, this.#below, find("none")]) part.hidden = true;
  }

  /** Go on loading at one end, "older" or "newer". */
  async #extend(end) {
    const place = this.#place;
    if (place === null || this.#loading !== null) return;
    const button = end === "older" ? this.#older : this.#newer;
    const isReached = document.activeElement === button;
    const ids = [...this.#messages.keys()];
    const anchor = String(end === "older" ? Math.min(...ids) : Math.max(...ids));
    const counts = end === "older" ? { num_before: PAGE, num_after: 0 } : { num_before: 0, num_after: PAGE };
    button.disabled = true;
    await this.#load(place, { anchor, include_anchor: false, ...counts });
    button.disabled = false;
    if (isReached && button.hidden) this.#scroller.focus();
    this.#settle();
  }

  /** False when another place was opened meanwhile, or the server refused. */
  async #load(place, range) {
    const { api, state } = this.#app;
    const waiting = (this.#loading = []);
    const isWhole = range.include_anchor !== false; // not an extension
    if (isWhole) this.#scroller.setAttribute("aria-busy", "true");
    const isStuck = !isWhole && this.#isStuck && this.#hasNewest;
    try {
      const answer = await api.get("/messages", { narrow: narrowOf(place), allow_empty_topic_name: true, ...range });
      if (this.#place !== place || this.#app.state !== state) return false;
      for (const message of answer.messages) this.#messages.set(message.id, message);
      if (isWhole || range.num_before > 0) this.#hasOldest = answer.found_oldest;
      if (isWhole || range.num_after > 0) this.#hasNewest = answer.found_newest;
      this.#hasFailed = false;
    } catch (error) {
      if (this.#place === place) {
        this.#hasFailed = true;
        this.#app.complain(error);
      }
      return false;
    } finally {
      if (this.#loading === waiting) {
        this.#loading = null;
        this.#scroller.setAttribute("aria-busy", "false");
      }
    }
    for (const event of waiting) this.#apply(event);
    if (!isWhole) this.#trim(range.num_after > 0 ? "older" : "newer");
    this.#lay(isStuck);
    return true;
  }

  /** Keep the list short: take messages off one end. */
  #trim(end) {
    const surplus = this.#messages.size - MOST;
    if (surplus <= 0) return;
    const ids = [...this.#messages.keys()].sort((one, other) => one - other);
    for (const id of end === "older" ? ids.slice(0, surplus) : ids.slice(-surplus)) this.#forget(id);
    if (end === "older") this.#hasOldest = false;
    else this.#hasNewest = false;
    this.#marks.clear(); // drawn again where they are needed
  }

  apply(event) {
    this.#reader.apply(event);
    if (this.#place === null) return;
    if (event.type === "update_message_flags") this.#showState();
    if (this.#loading !== null) return void this.#loading.push(event);
    const isStuck = this.#isStuck && this.#hasNewest;
    if (!this.#apply(event)) return;
    if (isStuck) this.#trim("older");
    this.#lay(isStuck);
    this.#lookSoon();
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
    if (!this.#hasNewest) return true; // comes with those before it
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
        delete message.match_content;
        if (event.user_id !== null && !event.rendering_only) message.last_edit_timestamp = event.edit_timestamp;
        const item = this.#items.get(id);
        if (item?.classList.contains("editing")) redrawContent(this.#app, message, item);
        else this.#items.delete(id); // is drawn again
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

  /** Bring the list in line with the messages; what is in view stays there. */
  #lay(isStuck) {
    const { state } = this.#app;
    const kept = isStuck ? null : this.#topItem();
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
        if (isOther || wanted.length > marks || isView(this.#place)) wanted.push(this.#heading(place, message.id));
      }
      if (!this.#items.has(message.id)) this.#items.set(message.id, draw(this.#app, message));
      const item = this.#items.get(message.id);
      item.classList.toggle("follows", wanted.length === marks && follows(message, before));
      wanted.push(item);
      before = message;
    }
    reconcile(this.#list, wanted);
    this.#older.hidden = this.#hasOldest || wanted.length === 0;
    this.#newer.hidden = this.#hasNewest || wanted.length === 0;
    find("none").hidden = wanted.length > 0;
    find("none").textContent = this.#place.search === undefined ? "No messages yet." : "No messages contain these words.";
    if (isStuck) this.#stick();
    else if (kept !== null) this.#restore(kept);
    this.#showState();
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
      const isHit = isView(this.#place);
      const title = isHit ? state.titleOf(place) : state.topicName(place.topic);
      const address = addressOf(isHit ? { ...place, near: messageId } : place);
      const mark = h("li", { class: "mark topic" }, h("a", { href: address, dir: "auto" }, title));
      const color = state.channels?.get(place.channelId)?.color;
      if (color !== undefined) mark.style.setProperty("--channel", color);
      this.#marks.set(name, mark);
    }
    return this.#marks.get(name);
  }

  /** Edit the user's last message in the list. False when there is none that can be edited. */
  editLast() {
    const last = [...this.#list.querySelectorAll(".message[data-mine]")].at(-1);
    const button = last?.querySelector(".menu .edit");
    button?.click();
    return Boolean(button);
  }

  #click(event) {
    const link = event.target.closest("a[href]");
    // The address stays the same, so the browser tells of no change.
    const place = link?.hash && link.hash === location.hash ? placeAt(link.hash) : null;
    if (place?.near !== undefined) this.open(place);
    else openFile(this.#app, event);
  }

  /** Where to begin in what was loaded: at the first unread message, else at the end. */
  #begin() {
    const mark = this.#marks.get("new ");
    this.#toBottom();
    if (mark === undefined) return;
    const above = this.#scroller.getBoundingClientRect().top + CONTEXT_PX - mark.getBoundingClientRect().top;
    if (above > 0) this.#scroller.scrollTop -= above;
    this.#isStuck = this.#hasNewest && this.#isAtBottom();
  }

  /** Show the message that an address names, also where it has moved since. */
  async #find(place) {
    if (this.#messages.has(place.near)) return this.#goTo(place.near);
    this.#begin();
    const there = await this.#app.placeOfMessage(place.near);
    if (this.#place !== place || there === null) return;
    if (!contains(place, there)) this.#app.show({ ...there, near: place.near });
  }

  #goTo(id) {
    const item = this.#items.get(id);
    for (const other of this.#list.querySelectorAll(".near")) other.classList.remove("near");
    item.classList.add("near");
    const [view, box] = [this.#scroller, item].map((each) => each.getBoundingClientRect());
    this.#scroller.scrollTop += box.top - view.top - Math.max(0, (view.height - box.height) / 2);
    this.#isStuck = this.#hasNewest && this.#isAtBottom();
    this.#settle();
  }

  /** The first message in view and how far down it is; null when there is none. */
  #topItem() {
    const view = this.#scroller.getBoundingClientRect();
    for (const child of this.#list.children) {
      const { top, bottom } = child.getBoundingClientRect();
      if (bottom > view.top && child.matches(".message"))
        return { id: Number(child.id.slice("message-".length)), offset: top - view.top };
    }
    return null;
  }

  #restore({ id, offset }) {
    const item = this.#items.get(id);
    if (item?.isConnected !== true) return;
    const moved = item.getBoundingClientRect().top - this.#scroller.getBoundingClientRect().top - offset;
    if (moved !== 0) this.#scroller.scrollTop += moved;
  }

  #isAtBottom() {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #toBottom() {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#isStuck = this.#hasNewest;
  }

  /** Stay at the end. What comes while nobody looks stays in view until somebody does. */
  #stick() {
    this.#toBottom();
    if (this.#isWatched()) return;
    const { unread } = this.#app.state;
    const [first] = [...this.#items.keys()].filter((id) => unread.has(id)).sort((one, other) => one - other);
    if (first === undefined) return;
    const above = this.#scroller.getBoundingClientRect().top - this.#items.get(first).getBoundingClientRect().top;
    if (above > 0) this.#scroller.scrollTop -= above;
  }

  #scrolled() {
    if (this.#place === null) return;
    this.#isStuck = this.#hasNewest && this.#isAtBottom();
    this.#settle();
  }

  /** What follows from where the list is scrolled to. */
  #settle() {
    if (this.#place === null) return;
    this.#showState();
    this.#lookSoon();
    if (this.#loading !== null || this.#hasFailed || this.#messages.size === 0) return;
    const { scrollHeight, scrollTop, clientHeight } = this.#scroller;
    if (!this.#hasNewest && scrollHeight - scrollTop - clientHeight < AHEAD_PX) this.#extend("newer");
    else if (!this.#hasOldest && scrollTop < AHEAD_PX) this.#extend("older");
  }

  #showState() {
    const isUnread = this.#app.state.unread.count(this.#place) > 0;
    this.#readAll.hidden = !isUnread;
    this.#below.hidden = this.#loading !== null || (this.#hasNewest && this.#isAtBottom()) || this.#messages.size === 0;
    this.#below.textContent = isUnread ? "New messages below" : "Newest messages";
  }

  #isWatched() {
    return !document.hidden && document.hasFocus() && document.querySelector("dialog[open]") === null;
  }

  #lookSoon() {
    if (this.#timer !== 0) return; // one look for all of a moment
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      this.#look();
    }, MOMENT_MS);
  }

  /** Count as read what is in view. */
  #look() {
    const { state } = this.#app;
    if (this.#place === null || state === null || this.#loading !== null || !this.#isWatched()) return;
    if (!marksAsRead(this.#place, state.settings.web_mark_read_on_scroll_policy)) return;
    const unread = [...this.#items].filter(([id]) => state.unread.has(id));
    if (unread.length === 0) return;
    const boxes = unread.map(([id, item]) => [id, item.getBoundingClientRect()]);
    this.#reader.see(idsInView(boxes, this.#scroller.getBoundingClientRect()));
  }

  async #markAll() {
    this.#readAll.disabled = true;
    try {
      await this.#reader.seeAll(this.#place);
    } catch (error) {
      this.#app.complain(error);
    }
    this.#readAll.disabled = false;
  }
}

/** Say who wrote what to somebody who listens. */
export function announceMessage(state, message) {
  if (message.sender_id === state.me) return;
  const place = state.titleOf(placeOf(message, state.me));
  announce(`${message.sender_full_name}, ${place}: ${wordsOf(message.content)}`);
}
