// Places where messages are: a channel {channelId}, a topic {channelId, topic}, a conversation
// {userIds} with the others' ids in ascending order (your own id alone: notes to yourself), what has
// the words of a search {search}, or what has a flag {is}. With {near}, the id of a message, the place
// is to be shown from that message on; {near} alone is wherever that message is.

/** Views of messages from several places, by the operand of the operator `is`. */
export const VIEWS = new Map([
  ["starred", "Starred messages"],
  ["mentioned", "Mentions"],
  ["unread", "Unread messages"],
  ["dm", "All direct messages"],
]);

const ascending = (ids) => [...ids].sort((one, other) => one - other);

/** The place of a conversation, from the ids of everybody in it. */
export function conversation(userIds, me) {
  const others = ascending(userIds.filter((id) => id !== me));
  return { userIds: others.length > 0 ? others : [me] };
}

export function placeOf(message, me) {
  if (message.type === "stream") return { channelId: message.stream_id, topic: message.subject };
  const userIds = message.display_recipient.map((user) => user.id);
  return conversation(userIds, me);
}

/** Equal for the spellings of one topic. */
export function keyOf(place) {
  if (place.search !== undefined) return `search ${place.search}`;
  if (place.is !== undefined) return `is ${place.is}`;
  if (place.userIds) return `users ${place.userIds.join(",")}`;
  if (place.channelId === undefined) return `message ${place.near}`;
  if (place.topic === undefined) return `channel ${place.channelId}`;
  return `topic ${place.channelId} ${place.topic.normalize().toLowerCase()}`;
}

/** Whether messages are shown there that are in several places. Nobody writes there. */
export const isView = (place) => place.search !== undefined || place.is !== undefined;

/** Whether `place` is `other`, or the channel of that topic. */
export function contains(place, other) {
  if (place.channelId !== undefined && place.topic === undefined) return place.channelId === other.channelId;
  return keyOf(place) === keyOf(other);
}

/** The filter of `GET /messages`. */
export function narrowOf(place) {
  if (place.search !== undefined) return [{ operator: "search", operand: place.search }];
  if (place.is !== undefined) return [{ operator: "is", operand: place.is }];
  if (place.userIds) return [{ operator: "dm", operand: place.userIds }];
  const channel = { operator: "channel", operand: place.channelId };
  return place.topic === undefined ? [channel] : [channel, { operator: "topic", operand: place.topic }];
}

/** The recipients, as `POST /messages` and `POST /scheduled_messages` take them. */
export function recipientsOf(place) {
  if (place.userIds) return { type: "direct", to: place.userIds };
  return { type: "channel", to: place.channelId, topic: place.topic };
}

export function placeOfScheduled(scheduled, me) {
  if (scheduled.type === "stream") return { channelId: scheduled.to, topic: scheduled.topic };
  return conversation(scheduled.to, me);
}

// Addresses are those that links in messages have: #narrow/channel/9-name/topic/castle.
const write = (text) => encodeURIComponent(text).replaceAll(".", "%2E").replaceAll("%", ".");
const read = (text) => decodeURIComponent(text.replaceAll(".", "%"));

export function addressOf(place) {
  const near = place.near === undefined ? "" : `/near/${place.near}`;
  if (place.search !== undefined) return `#narrow/search/${write(place.search)}`;
  if (place.is !== undefined) return `#narrow/is/${place.is}`;
  if (place.userIds) return `#narrow/dm/${place.userIds.join(",")}${near}`;
  if (place.channelId === undefined) return `#narrow${near}`;
  const channel = `#narrow/channel/${place.channelId}`;
  return (place.topic === undefined ? channel : `${channel}/topic/${write(place.topic)}`) + near;
}

// Zulip's names of the parts, of which links in older messages have other spellings.
const PARTS = new Map([
  ["channel", "channel"],
  ["stream", "channel"],
  ["topic", "topic"],
  ["subject", "topic"],
  ["dm", "dm"],
  ["pm-with", "dm"],
  ["group-pm-with", "dm"],
  ["near", "near"],
  ["with", "near"],
  ["id", "near"],
  ["is", "is"],
  ["search", "search"],
]);

/** The place of an address, or null. */
export function placeAt(address) {
  if (!address.startsWith("#narrow/")) return null;
  const pieces = address.slice("#narrow/".length).split("/");
  const parts = {};
  try {
    for (let at = 0; at < pieces.length; at += 2) {
      if (at > 0 && at === pieces.length - 1 && pieces[at] === "") break; // a slash at the end
      const part = PARTS.get(pieces[at]);
      if (part === undefined) return null; // a view that this page does not have
      if (pieces[at + 1] !== undefined) parts[part] = read(pieces[at + 1]);
    }
  } catch {
    return null; // not what anybody wrote
  }
  return placeOfParts(parts);
}

function placeOfParts({ channel, topic, dm, near, is, search }) {
  if (search !== undefined) return search === "" ? null : { search };
  const message = /^\d+$/.test(near ?? "") ? { near: Number(near) } : {};
  if (/^\d/.test(dm ?? "")) return { userIds: ascending(dm.replace(/-.*/, "").split(",").map(Number)), ...message };
  if (/^\d/.test(channel ?? "")) {
    const channelId = Number.parseInt(channel, 10);
    return topic === undefined ? { channelId, ...message } : { channelId, topic, ...message };
  }
  if (dm !== undefined || channel !== undefined || topic !== undefined) return null;
  if (is !== undefined) return VIEWS.has(is) ? { is } : null;
  return message.near === undefined ? null : message;
}
