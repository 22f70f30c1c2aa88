// Channels, their folders and subscriptions; messages, their flags and topics.

import { only, read, same } from "../answers";
import { bad, cordelia, done, hamlet, othello, people, stranger, unknown } from "./stage";

export async function folders(): Promise<void> {
  const plays = { name: "Plays", description: "*All* of them" };
  const first = await read(cordelia.POST("/channel_folders/create", { body: plays }));
  const poems = { name: "Poems", description: "" };
  const second = await read(cordelia.POST("/channel_folders/create", { body: poems }));
  const path = { channel_folder_id: second.channel_folder_id };
  await done(
    cordelia.PATCH("/channel_folders/{channel_folder_id}", {
      params: { path },
      body: { name: "Sonnets" },
    }),
  );
  const order = [second.channel_folder_id, first.channel_folder_id];
  await done(cordelia.PATCH("/channel_folders", { body: { order } }));
  const { channel_folders: listed } = await read(hamlet.GET("/channel_folders"));
  same(
    listed.map((folder) => folder.name),
    ["Sonnets", "Plays"],
  );
  await unknown(stranger.GET("/channel_folders"));
  await bad(cordelia.POST("/channel_folders/create", { body: plays }));
}

/** Makes the channel Denmark, in which Hamlet and Othello are; its id. */
export async function channels(): Promise<number> {
  const both = [people.hamlet.id, people.othello.id];
  const made = await read(
    hamlet.POST("/users/me/subscriptions", {
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
  const { stream_id: denmark } = await read(hamlet.GET("/get_stream_id", { params: { query } }));
  const all = await read(hamlet.GET("/streams", { params: { query: { include_public: true } } }));
  same(only(all.streams, (channel) => channel.name === "Denmark").stream_id, denmark);
  const path = { stream_id: denmark };
  const red = { property: "color" as const, value: "#f00f00" };
  await done(hamlet.PATCH("/users/me/subscriptions/{stream_id}", { params: { path }, body: red }));
  const pinned = { stream_id: denmark, property: "pin_to_top" as const, value: true };
  const changes = { subscription_data: [pinned] };
  await done(hamlet.POST("/users/me/subscriptions/properties", { body: changes }));
  const { subscriptions } = await read(
    hamlet.GET("/users/me/subscriptions", { params: { query: { include_subscribers: true } } }),
  );
  const mine = only(subscriptions, (each) => each.stream_id === denmark);
  same([mine.color, mine.pin_to_top, mine.is_muted], ["#f00f00", true, false]);
  same(mine.subscribers, both);
  const senders = mine.can_send_message_group;
  same(typeof senders === "number" ? [] : senders.direct_members, both);
  const verona = { subscriptions: ["Verona"] };
  const left = await read(hamlet.DELETE("/users/me/subscriptions", { body: verona }));
  same([left.removed, left.not_removed], [["Verona"], []]);
  await unknown(stranger.GET("/streams"));
  await bad(hamlet.GET("/get_stream_id", { params: { query: { stream: "Nowhere" } } }));
  await unknown(stranger.GET("/users/me/subscriptions"));
  await bad(hamlet.DELETE("/users/me/subscriptions", { body: { subscriptions: ["Nowhere"] } }));
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
  const { id } = await read(hamlet.POST("/messages", { params: { header: headers }, body }));
  same((await read(hamlet.POST("/messages", { params: { header: headers }, body }))).id, id);
  const to = [people.othello.id];
  const direct = await read(
    hamlet.POST("/messages", { body: { type: "direct", to, content: "Are you honest?" } }),
  );
  const path = { message_id: direct.id };
  const received = (await read(hamlet.GET("/messages/{message_id}", { params: { path } }))).message;
  const names = received.display_recipient;
  same(typeof names === "string" ? [] : names.map((each) => each.full_name), ["Hamlet", "Othello"]);
  return id;
}

export async function messages(denmark: number): Promise<void> {
  const castle = await send();
  const path = { message_id: castle };
  const raw = { apply_markdown: false };
  const { message } = await read(
    hamlet.GET("/messages/{message_id}", { params: { path, query: raw } }),
  );
  same([message.content, message.subject], ["Words, *words*, words.", "castle"]);
  same([message.display_recipient, message.stream_id], ["Denmark", denmark]);
  const edit = { content: "Words!" };
  const updated = await read(
    hamlet.PATCH("/messages/{message_id}", { params: { path }, body: edit }),
  );
  same(updated.detached_uploads, []);
  const { message_history: history } = await read(
    hamlet.GET("/messages/{message_id}/history", { params: { path } }),
  );
  same(
    history.map((each) => each.content),
    ["Words, *words*, words.", "Words!"],
  );
  same(history[1]?.prev_content, "Words, *words*, words.");
  const window = { anchor: "newest", num_before: 10, num_after: 0 };
  const latest = await read(hamlet.GET("/messages", { params: { query: window } }));
  same(only(latest.messages, (each) => each.id === castle).content, "<p>Words!</p>");
  const narrow = JSON.stringify([{ operator: "channel", operand: "Denmark" }]);
  const within = { ...window, narrow };
  const filtered = await read(hamlet.GET("/messages", { params: { query: within } }));
  const where = new Set(filtered.messages.map((each) => each.display_recipient));
  same([...where], ["Denmark"]);
  same(filtered.messages.at(-1)?.id, castle);
  const two = latest.messages.slice(-2).map((each) => each.id);
  const these = { message_ids: JSON.stringify(two) };
  const asked = await read(hamlet.GET("/messages", { params: { query: these } }));
  same(
    asked.messages.map((each) => each.id),
    two,
  );
  const text = { content: "**bold**" };
  const { rendered } = await read(hamlet.POST("/messages/render", { body: text }));
  same(rendered, "<p><strong>bold</strong></p>");
  const desk = { moderation_request_channel_id: denmark };
  await done(cordelia.PATCH("/realm", { body: desk }));
  const report = { report_type: "norms" as const, description: "Rude." };
  await done(othello.POST("/messages/{message_id}/report", { params: { path }, body: report }));
  await flags(castle);
  await topics(denmark, castle);
  await done(hamlet.DELETE("/messages/{message_id}", { params: { path } }));
  await unknown(stranger.GET("/messages", { params: { query: window } }));
  await bad(hamlet.GET("/messages/{message_id}", { params: { path } }));
}

async function flags(castle: number): Promise<void> {
  const star = { messages: [castle], op: "add", flag: "starred" };
  same((await read(hamlet.POST("/messages/flags", { body: star }))).messages, [castle]);
  const narrow = [{ operator: "channel", operand: "Denmark" }];
  const window = { anchor: "newest", num_before: 10, num_after: 0, narrow };
  const unstar = { ...window, op: "remove", flag: "starred" };
  const found = await read(hamlet.POST("/messages/flags/narrow", { body: unstar }));
  same([found.updated_count, found.found_newest], [1, true]);
  await unknown(stranger.POST("/messages/flags", { body: star }));
  await bad(hamlet.POST("/messages/flags", { body: { ...star, flag: "x" } }));
}

async function topics(denmark: number, castle: number): Promise<void> {
  const path = { stream_id: denmark };
  const listed = await read(hamlet.GET("/users/me/{stream_id}/topics", { params: { path } }));
  same(only(listed.topics, (topic) => topic.name === "castle").max_id >= castle, true);
  const follow = { stream_id: denmark, topic: "castle", visibility_policy: 3 as const };
  await done(hamlet.POST("/user_topics", { body: follow }));
  const mute = { op: "add" as const, stream_id: denmark, topic: "castle" };
  await done(hamlet.PATCH("/users/me/subscriptions/muted_topics", { body: mute }));
  await unknown(stranger.GET("/users/me/{stream_id}/topics", { params: { path } }));
  await bad(
    hamlet.GET("/users/me/{stream_id}/topics", { params: { path: { stream_id: 999_999 } } }),
  );
}
