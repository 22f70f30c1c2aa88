// Who is typing where: telling the others, and showing what they tell.

import { find } from "../client/element.js";
import { contains, conversation, keyOf } from "./places.js";

/** Tells the readers of a place that the user types there, while they do. */
export class Typist {
  #app;
  #place = null; // where the others were told
  #toldAt = 0;
  #timer = 0;

  constructor(app) {
    this.#app = app;
  }

  /** The text of a message to `place` has changed. */
  type(place, text) {
    const { state } = this.#app;
    if (this.#place !== null && keyOf(this.#place) !== keyOf(place)) this.stop();
    if (text.trim() === "") return this.stop();
    if (!state.tellsTypingIn(place)) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.stop(), state.realm.typingPauseMs);
    if (this.#place !== null && performance.now() - this.#toldAt < state.realm.typingRepeatMs) return;
    this.#place = place;
    this.#toldAt = performance.now();
    this.#tell("start");
  }

  stop() {
    clearTimeout(this.#timer);
    if (this.#place !== null) this.#tell("stop");
    this.#place = null;
  }

  #tell(op) {
    const { userIds, channelId, topic } = this.#place;
    const to = userIds ? { type: "direct", to: userIds } : { type: "channel", stream_id: channelId, topic };
    // Nobody misses it when it does not arrive.
    this.#app.api?.post("/typing", { op, ...to }).catch(() => {});
  }
}

/** Shows who types in the open place. What is told lasts for a while only. */
export class Typing {
  #app;
  #line = find("typing");
  #typing = new Map(); // user id -> {place, timer}

  constructor(app) {
    this.#app = app;
  }

  apply(event) {
    const { state } = this.#app;
    if (event.type === "message") this.#end(event.message.sender_id);
    if (event.type !== "typing" || event.sender.user_id === state.me) return;
    this.#end(event.sender.user_id);
    if (event.op === "start") this.#begin(event.sender.user_id, placeOfTyping(event, state.me));
  }

  clear() {
    for (const userId of [...this.#typing.keys()]) this.#end(userId);
  }

  /** Bring the line in line with the open place. */
  draw() {
    const { place, state } = this.#app;
    const here = [...this.#typing].filter(([, typing]) => place !== null && contains(place, typing.place));
    const names = here.map(([userId]) => state.nameOf(userId));
    const some = names.length > 3 ? `${names.length} people` : names.join(", ");
    this.#line.textContent = names.length > 0 ? `${some} ${names.length > 1 ? "are" : "is"} typing…` : "";
  }

  #begin(userId, place) {
    const timer = setTimeout(() => this.#end(userId), this.#app.state.realm.typingExpiryMs);
    this.#typing.set(userId, { place, timer });
    this.draw();
  }

  #end(userId) {
    clearTimeout(this.#typing.get(userId)?.timer);
    if (this.#typing.delete(userId) && this.#app.state !== null) this.draw();
  }
}

function placeOfTyping({ recipients, stream_id, topic }, me) {
  if (recipients === undefined) return { channelId: stream_id, topic };
  return conversation(recipients.map((user) => user.user_id), me);
}
