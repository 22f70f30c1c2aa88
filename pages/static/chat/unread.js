// The unread messages by place. Counts are sizes of sets, so an event that comes twice does no harm.

import { contains, conversation, keyOf } from "./places.js";

export class Unread {
  #places = new Map(); // key -> {place, ids}

  /** From `unread_msgs` of the snapshot. */
  constructor(unread, me) {
    for (const { stream_id, topic, unread_message_ids } of unread.streams)
      this.add(unread_message_ids, { channelId: stream_id, topic });
    for (const { other_user_id, unread_message_ids } of unread.pms)
      this.add(unread_message_ids, conversation([other_user_id], me));
    for (const { user_ids_string, unread_message_ids } of unread.huddles)
      this.add(unread_message_ids, conversation(user_ids_string.split(",").map(Number), me));
  }

  add(ids, place) {
    const key = keyOf(place);
    if (!this.#places.has(key)) this.#places.set(key, { place, ids: new Set() });
    for (const id of ids) this.#places.get(key).ids.add(id);
  }

  /** Take messages out; returns those that were unread. */
  remove(ids) {
    const removed = [];
    for (const [key, { ids: unread }] of this.#places) {
      for (const id of ids) if (unread.delete(id)) removed.push(id);
      if (unread.size === 0) this.#places.delete(key);
    }
    return removed;
  }

  move(ids, place) {
    const moved = this.remove(ids);
    if (moved.length > 0) this.add(moved, place);
  }

  clear() {
    this.#places.clear();
  }

  /** The ids in a place and in the topics of a channel, in ascending order. */
  within(place) {
    const found = [...this.#places.values()].filter((entry) => contains(place, entry.place));
    return found.flatMap(({ ids }) => [...ids]).sort((one, other) => one - other);
  }

  count(place) {
    return this.within(place).length;
  }

  places() {
    return [...this.#places.values()].map(({ place }) => place);
  }

  get total() {
    return [...this.#places.values()].reduce((sum, { ids }) => sum + ids.size, 0);
  }
}
