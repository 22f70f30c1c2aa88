// Places where messages are: a channel {channelId}, a topic {channelId, topic}, a conversation
// {userIds} with the others' ids in ascending order (your own id alone: notes to yourself), or what
// has the words of a search {search}.

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
  if (place.userIds) return `users ${place.userIds.join(",")}`;
  if (place.topic === undefined) return `channel ${place.channelId}`;
  return `topic ${place.channelId} ${place.topic.toLowerCase()}`;
}

/** Whether `place` is `other`, or the channel of that topic. */
export function contains(place, other) {
  if (place.channelId !== undefined && place.topic === undefined) return place.channelId === other.channelId;
  return keyOf(place) === keyOf(other);
}

/** The filter of `GET /messages`. */
export function narrowOf(place) {
  if (place.search !== undefined) return [{ operator: "search", operand: place.search }];
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
  if (place.search !== undefined) return `#narrow/search/${write(place.search)}`;
  if (place.userIds) return `#narrow/dm/${place.userIds.join(",")}`;
  const channel = `#narrow/channel/${place.channelId}`;
  return place.topic === undefined ? channel : `${channel}/topic/${write(place.topic)}`;
}

/** The place of an address, or null. */
export function placeAt(address) {
  const [, kind, who, , topic] = address.split("/");
  if (address.startsWith("#narrow/search/")) return searchFor(who);
  if (!address.startsWith("#narrow/") || !/^\d/.test(who ?? "")) return null;
  if (kind === "dm") return { userIds: ascending(who.replace(/-.*/, "").split(",").map(Number)) };
  if (kind !== "channel") return null;
  const channelId = Number.parseInt(who, 10);
  try {
    return topic === undefined ? { channelId } : { channelId, topic: read(topic) };
  } catch {
    return null; // not what anybody wrote as a topic
  }
}

function searchFor(words) {
  try {
    return words === "" ? null : { search: read(words) };
  } catch {
    return null; // not what anybody wrote
  }
}
