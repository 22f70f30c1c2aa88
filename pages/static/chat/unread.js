// The unread messages by place. Counts are sizes of sets, so an event that comes twice does no harm.

import { contains, conversation, keyOf } from "./places.js";

export class Unread {
  #places = new Map(); // key -> {place, ids}
  #keys = new Map(); // id -> key of its place
  #channels = new Map(); // channel id -> count

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
    this.remove(ids);
    if (ids.length === 0) return;
    const key = keyOf(place);
    if (!this.#places.has(key)) this.#places.set(key, { place, ids: new Set() });
    const unread = this.#places.get(key).ids;
    const before = unread.size;
    for (const id of ids) {
      unread.add(id);
      this.#keys.set(id, key);
    }
    this.#count(place, unread.size - before);
  }

  /** Take messages out; returns those that were unread. */
  remove(ids) {
    const removed = ids.filter((id) => this.#keys.has(id));
    for (const id of removed) {
      const key = this.#keys.get(id);
      if (key === undefined) continue; // named twice
      const { place, ids: unread } = this.#places.get(key);
      unread.delete(id);
      this.#keys.delete(id);
      this.#count(place, -1);
      if (unread.size === 0) this.#places.delete(key);
    }
    return removed;
  }

  move(ids, place) {
    const moved = this.remove(ids);
    if (moved.length > 0) this.add(moved, place);
  }

  clear() {
    for (const kept of [this.#places, this.#keys, this.#channels]) kept.clear();
  }

  has(id) {
    return this.#keys.has(id);
  }

  /** The ids in a place and in the topics of a channel, in ascending order. */
  within(place) {
    const found = [...this.#places.values()].filter((entry) => contains(place, entry.place));
    return found.flatMap(({ ids }) => [...ids]).sort((one, other) => one - other);
  }

  count(place) {
    if (place.channelId !== undefined && place.topic === undefined) return this.#channels.get(place.channelId) ?? 0;
    return this.#places.get(keyOf(place))?.ids.size ?? 0;
  }

  places() {
    return [...this.#places.values()].map(({ place }) => place);
  }

  get total() {
    return this.#keys.size;
  }

  #count({ channelId }, change) {
    if (channelId !== undefined) this.#channels.set(channelId, (this.#channels.get(channelId) ?? 0) + change);
  }
}
