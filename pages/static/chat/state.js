// What the page knows: the snapshot of `POST /register`, kept true by the events after it.

import { contains, conversation, isView, keyOf, placeOf, VIEWS } from "./places.js";
import { Unread } from "./unread.js";

const byId = (rows, id) => new Map(rows.map((row) => [row[id], row]));

export class State {
  constructor(snapshot) {
    this.me = snapshot.user_id;
    this.realm = {
      name: snapshot.realm_name,
      emptyTopic: snapshot.realm_empty_topic_display_name,
      canEdit: snapshot.realm_allow_message_editing,
      editSeconds: snapshot.realm_message_content_edit_limit_seconds,
      maxMessage: snapshot.max_message_length,
      maxTopic: snapshot.max_topic_length,
      maxFileMiB: snapshot.max_file_upload_size_mib,
      emojiAddress: snapshot.server_emoji_data_url,
      pingMs: snapshot.server_presence_ping_interval_seconds * 1000,
      offlineAfterS: snapshot.server_presence_offline_threshold_seconds,
      typingExpiryMs: snapshot.server_typing_started_expiry_period_milliseconds,
      typingPauseMs: snapshot.server_typing_stopped_wait_period_milliseconds,
      typingRepeatMs: snapshot.server_typing_started_wait_period_milliseconds,
    };
    const { realm_users, realm_non_active_users, cross_realm_bots } = snapshot;
    this.users = byId([...cross_realm_bots, ...realm_non_active_users, ...realm_users], "user_id");
    this.people = new Set(realm_users.map((user) => user.user_id));
    this.channels = byId(snapshot.subscriptions, "stream_id");
    this.settings = snapshot.user_settings;
    this.scheduled = byId(snapshot.scheduled_messages, "scheduled_message_id");
    this.unread = new Unread(snapshot.unread_msgs, this.me);
    this.topics = new Map(); // channel id -> topic's key -> {name, lastId}
    this.conversations = new Map(); // key -> {place, lastId}
    for (const { user_ids, max_message_id } of snapshot.recent_private_conversations)
      this.#note(conversation(user_ids, this.me), max_message_id);
    for (const place of this.unread.places()) this.#note(place, this.unread.within(place).at(-1));
  }

  nameOf(userId) {
    return this.users.get(userId)?.full_name ?? "Unknown user";
  }

  /** The name of a place: `#general > castle`, `Othello`, `Search: castle`. */
  titleOf(place) {
    if (place.search !== undefined) return `Search: ${place.search}`;
    if (place.is !== undefined) return VIEWS.get(place.is);
    if (place.userIds)
      return place.userIds.map((id) => (id === this.me ? `${this.nameOf(id)} (you)` : this.nameOf(id))).join(", ");
    if (place.channelId === undefined) return "Message";
    const channel = `#${this.channels.get(place.channelId)?.name ?? "unknown channel"}`;
    return place.topic === undefined ? channel : `${channel} > ${this.topicName(place.topic)}`;
  }

  topicName(topic) {
    return topic || this.realm.emptyTopic;
  }

  /** Whether the user lets others know that they type in a place. */
  tellsTypingIn({ userIds }) {
    if (userIds === undefined) return this.settings.send_stream_typing_notifications;
    return this.settings.send_private_typing_notifications && userIds[0] !== this.me;
  }

  /** Topics of a channel, as `GET /users/me/{stream_id}/topics` returns them. */
  learnTopics(channelId, topics) {
    for (const { name, max_id } of topics) this.#note({ channelId, topic: name }, max_id);
  }

  /** The place of the oldest unread message that is not in `place`, or null. */
  nextUnread(place) {
    const elsewhere = this.unread.places().filter((other) => place === null || !contains(place, other));
    const first = (other) => this.unread.within(other)[0];
    elsewhere.sort((one, other) => first(one) - first(other));
    return elsewhere[0] ?? null;
  }

  /** The known topics of a channel, the newest first. */
  topicsOf(channelId) {
    return [...(this.topics.get(channelId)?.values() ?? [])].sort((one, other) => other.lastId - one.lastId);
  }

  apply(event) {
    this[`on_${event.type}`]?.(event);
  }

  on_message({ message, flags }) {
    const place = placeOf(message, this.me);
    this.#note(place, message.id);
    if (!flags.includes("read")) this.unread.add([message.id], place);
  }

  on_update_message(event) {
    if (event.orig_subject === undefined) return; // not moved
    const place = placeMovedTo(event);
    this.#note(place, Math.max(...event.message_ids));
    this.unread.move(event.message_ids, place);
  }

  on_delete_message({ message_ids }) {
    this.unread.remove(message_ids);
  }

  on_update_message_flags({ op, flag, messages, all, message_details }) {
    if (flag !== "read") return;
    if (op === "add") return all ? this.unread.clear() : this.unread.remove(messages);
    for (const [id, { type, stream_id, topic, user_ids }] of Object.entries(message_details)) {
      const place = type === "stream" ? { channelId: stream_id, topic } : conversation(user_ids, this.me);
      this.unread.add([Number(id)], place);
    }
  }

  on_subscription({ op, subscriptions, stream_id, property, value }) {
    if (op === "add") for (const channel of subscriptions) this.channels.set(channel.stream_id, channel);
    if (op === "remove") for (const channel of subscriptions) this.#leave(channel.stream_id);
    if (op === "update" && this.channels.has(stream_id)) this.channels.get(stream_id)[property] = value;
  }

  on_stream({ op, stream_ids, stream_id, property, value }) {
    if (op === "delete") for (const id of stream_ids) this.#leave(id);
    if (op === "update" && this.channels.has(stream_id)) this.channels.get(stream_id)[property] = value;
  }

  on_realm_user({ op, person }) {
    const id = person.user_id;
    if (op === "add") this.users.set(id, person);
    if (op === "update") this.users.set(id, { ...this.users.get(id), ...person });
    if (op === "add" || person.is_active === true) this.people.add(id);
    if (op === "remove" || person.is_active === false) this.people.delete(id);
  }

  on_user_settings({ property, value }) {
    this.settings[property] = value;
  }

  on_scheduled_messages({ op, scheduled_messages, scheduled_message, scheduled_message_id }) {
    if (op === "remove") this.scheduled.delete(scheduled_message_id);
    for (const scheduled of scheduled_messages ?? (scheduled_message ? [scheduled_message] : []))
      this.scheduled.set(scheduled.scheduled_message_id, scheduled);
  }

  #leave(channelId) {
    this.channels.delete(channelId);
    this.unread.remove(this.unread.within({ channelId }));
  }

  /** Something is in a place: list it, the newest first. */
  #note(place, lastId) {
    const known = place.userIds ? this.conversations : this.#topicsIn(place.channelId);
    const entry = known.get(keyOf(place));
    if (entry) entry.lastId = Math.max(entry.lastId, lastId);
    else known.set(keyOf(place), { place, lastId });
  }

  #topicsIn(channelId) {
    if (!this.topics.has(channelId)) this.topics.set(channelId, new Map());
    return this.topics.get(channelId);
  }
}

/** The place `place` of the state `before` as `after` has it, when the organization has moved and all
 *  ids are new. Null where there is no such place any more, or more than one could be meant. */
export function placeAfterMove(place, before, after) {
  if (isView(place)) return place;
  if (place.userIds) {
    const ids = place.userIds.map((id) => counterpart(nameOfUser(before.users.get(id)), after.users, nameOfUser));
    return ids.includes(null) ? null : conversation([...ids, after.me], after.me);
  }
  const name = before.channels.get(place.channelId)?.name;
  const channelId = counterpart(name, after.channels, (channel) => channel.name);
  if (channelId === null) return null;
  return place.topic === undefined ? { channelId } : { channelId, topic: place.topic };
}

const nameOfUser = (user) => user && (user.delivery_email ?? user.full_name);

/** The id of the only row of that name, or null. */
function counterpart(name, rows, nameOf) {
  const found = [...rows.keys()].filter((id) => name !== undefined && nameOf(rows.get(id)) === name);
  return found.length === 1 ? found[0] : null;
}

/** Where an `update_message` event put its messages. */
export function placeMovedTo({ stream_id, new_stream_id, orig_subject, subject }) {
  return { channelId: new_stream_id ?? stream_id, topic: subject ?? orig_subject };
}
