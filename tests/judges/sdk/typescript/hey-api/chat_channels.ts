// Channels, their folders and subscriptions; messages, their flags and topics.

import * as sdk from "../../../../build/sdk/chat/hey-api";
import { only, read, same } from "../answers";
import { bad, cordelia, done, hamlet, othello, people, stranger, unknown } from "./stage";

export async function folders(): Promise<void> {
  const plays = { name: "Plays", description: "*All* of them" };
  const first = await read(sdk.createChannelFolder({ client: cordelia, body: plays }));
  const poems = { name: "Poems", description: "" };
  const second = await read(sdk.createChannelFolder({ client: cordelia, body: poems }));
  const path = { channel_folder_id: second.channel_folder_id };
  await done(sdk.updateChannelFolder({ client: cordelia, path, body: { name: "Sonnets" } }));
  const order = [second.channel_folder_id, first.channel_folder_id];
  await done(sdk.reorderChannelFolders({ client: cordelia, body: { order } }));
  const { channel_folders: listed } = await read(sdk.listChannelFolders({ client: hamlet }));
  same(
    listed.map((folder) => folder.name),
    ["Sonnets", "Plays"],
  );
  await unknown(sdk.listChannelFolders({ client: stranger }));
  await bad(sdk.createChannelFolder({ client: cordelia, body: plays }));
}

/** Makes the channel Denmark, in which Hamlet and Othello are; its id. */
export async function channels(): Promise<number> {
  const both = [people.hamlet.id, people.othello.id];
  const made = await read(
    sdk.subscribe({
      client: hamlet,
      body: {
        subscriptions: [{ name: "Denmark", description: "Rotten?" }, { name: "Verona" }],
        principals: both,
        message_retention_days: "realm_default",
        can_send_message_group: { direct_members: both, direct_subgroups: [] },
        announce: false,
      },
    }),
  );
  same(made.subscribed[String(people.othello.id)], ["Denmark", "Verona"]);
  const query = { stream: "Denmark" };
  const { stream_id: denmark } = await read(sdk.getChannelId({ client: hamlet, query }));
  const all = await read(sdk.listChannels({ client: hamlet, query: { include_public: true } }));
  same(only(all.streams, (channel) => channel.name === "Denmark").stream_id, denmark);
  const path = { stream_id: denmark };
  const red = { property: "color" as const, value: "#f00f00" };
  await done(sdk.updateSubscriptionSetting({ client: hamlet, path, body: red }));
  const pinned = { stream_id: denmark, property: "pin_to_top" as const, value: true };
  const changes = { subscription_data: [pinned] };
  await done(sdk.updateSubscriptionSettings({ client: hamlet, body: changes }));
  const { subscriptions } = await read(
    sdk.listSubscriptions({ client: hamlet, query: { include_subscribers: true } }),
  );
  const mine = only(subscriptions, (each) => each.stream_id === denmark);
  same([mine.color, mine.pin_to_top, mine.is_muted], ["#f00f00", true, false]);
  same(mine.subscribers, both);
  const senders = mine.can_send_message_group;
  same(typeof senders === "number" ? [] : senders.direct_members, both);
  const verona = { subscriptions: ["Verona"] };
  const left = await read(sdk.unsubscribe({ client: hamlet, body: verona }));
  same([left.removed, left.not_removed], [["Verona"], []]);
  await unknown(sdk.listChannels({ client: stranger }));
  await bad(sdk.getChannelId({ client: hamlet, query: { stream: "Nowhere" } }));
  await unknown(sdk.listSubscriptions({ client: stranger }));
  await bad(sdk.unsubscribe({ client: hamlet, body: { subscriptions: ["Nowhere"] } }));
  return denmark;
}

/** Sends to Denmark and to Othello; the id of the message in Denmark. */
async function send(): Promise<number> {
  const body = {
    type: "channel" as const,
    to: "Denmark",
    topic: "castle",
    content: "Words, *words*, words.",
  };
  const headers = { "Idempotency-Key": "a-fresh-random-value" };
  const { id } = await read(sdk.sendMessage({ client: hamlet, headers, body }));
  same((await read(sdk.sendMessage({ client: hamlet, headers, body }))).id, id);
  const to = [people.othello.id];
  const direct = await read(
    sdk.sendMessage({ client: hamlet, body: { type: "direct", to, content: "Are you honest?" } }),
  );
  const path = { message_id: direct.id };
  const received = (await read(sdk.getMessage({ client: hamlet, path }))).message;
  const names = received.display_recipient;
  same(typeof names === "string" ? [] : names.map((each) => each.full_name), ["Hamlet", "Othello"]);
  return id;
}

export async function messages(denmark: number): Promise<void> {
  const castle = await send();
  const path = { message_id: castle };
  const raw = { apply_markdown: false };
  const { message } = await read(sdk.getMessage({ client: hamlet, path, query: raw }));
  same([message.content, message.subject], ["Words, *words*, words.", "castle"]);
  same([message.display_recipient, message.stream_id], ["Denmark", denmark]);
  const edit = { content: "Words!" };
  const updated = await read(sdk.updateMessage({ client: hamlet, path, body: edit }));
  same(updated.detached_uploads, []);
  const { message_history: history } = await read(sdk.listMessageHistory({ client: hamlet, path }));
  same(
    history.map((each) => each.content),
    ["Words, *words*, words.", "Words!"],
  );
  same(history[1]?.prev_content, "Words, *words*, words.");
  const window = { anchor: "newest", num_before: 10, num_after: 0 };
  const latest = await read(sdk.listMessages({ client: hamlet, query: window }));
  same(only(latest.messages, (each) => each.id === castle).content, "<p>Words!</p>");
  const narrow = [{ operator: "channel", operand: "Denmark" }];
  const filtered = await read(
    sdk.listMessages({ client: hamlet, query: { ...window, narrow } }),
  );
  const where = new Set(filtered.messages.map((each) => each.display_recipient));
  same([...where], ["Denmark"]);
  same(filtered.messages.at(-1)?.id, castle);
  const two = latest.messages.slice(-2).map((each) => each.id);
  const these = { message_ids: two };
  const asked = await read(sdk.listMessages({ client: hamlet, query: these }));
  same(
    asked.messages.map((each) => each.id),
    two,
  );
  const text = { content: "**bold**" };
  const { rendered } = await read(sdk.renderText({ client: hamlet, body: text }));
  same(rendered, "<p><strong>bold</strong></p>");
  const desk = { moderation_request_channel_id: denmark };
  await done(sdk.updateRealm({ client: cordelia, body: desk }));
  const report = { report_type: "norms" as const, description: "Rude." };
  await done(sdk.reportMessage({ client: othello, path, body: report }));
  await flags(castle);
  await topics(denmark, castle);
  await done(sdk.deleteMessage({ client: hamlet, path }));
  await unknown(sdk.listMessages({ client: stranger, query: window }));
  await bad(sdk.getMessage({ client: hamlet, path }));
}

async function flags(castle: number): Promise<void> {
  const star = { messages: [castle], op: "add", flag: "starred" };
  same((await read(sdk.updateMessageFlags({ client: hamlet, body: star }))).messages, [castle]);
  const narrow = [{ operator: "channel", operand: "Denmark" }];
  const window = { anchor: "newest", num_before: 10, num_after: 0, narrow };
  const unstar = { ...window, op: "remove", flag: "starred" };
  const found = await read(sdk.updateMessageFlagsForNarrow({ client: hamlet, body: unstar }));
  same([found.updated_count, found.found_newest], [1, true]);
  await unknown(sdk.updateMessageFlags({ client: stranger, body: star }));
  await bad(sdk.updateMessageFlags({ client: hamlet, body: { ...star, flag: "x" } }));
}

async function topics(denmark: number, castle: number): Promise<void> {
  const path = { stream_id: denmark };
  const listed = await read(sdk.listTopics({ client: hamlet, path }));
  same(only(listed.topics, (topic) => topic.name === "castle").max_id >= castle, true);
  const follow = { stream_id: denmark, topic: "castle", visibility_policy: 3 as const };
  await done(sdk.setUserTopic({ client: hamlet, body: follow }));
  const mute = { op: "add" as const, stream_id: denmark, topic: "castle" };
  await done(sdk.updateMutedTopic({ client: hamlet, body: mute }));
  await unknown(sdk.listTopics({ client: stranger, path }));
  await bad(sdk.listTopics({ client: hamlet, path: { stream_id: 999_999 } }));
}
