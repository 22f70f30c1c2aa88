// Channels, their folders and subscriptions; messages, their flags and topics.

import * as sdk from "../../../../build/sdk/chat/typescript-fetch";
import { only, same } from "../answers";
import { asking, bad, cordelia, done, hamlet, othello, people, stranger, unknown } from "./stage";

export async function folders(): Promise<void> {
  const plays = { name: "Plays", description: "*All* of them" };
  const first = await new sdk.ChannelFoldersApi(cordelia).createChannelFolder({
    createChannelFolderParameters: plays,
  });
  const poems = { name: "Poems", description: "" };
  const second = await new sdk.ChannelFoldersApi(cordelia).createChannelFolder({
    createChannelFolderParameters: poems,
  });
  const path = { channelFolderId: second.channelFolderId };
  await done(
    new sdk.ChannelFoldersApi(cordelia).updateChannelFolder({
      ...path,
      updateChannelFolderParameters: { name: "Sonnets" },
    }),
  );
  const order = [second.channelFolderId, first.channelFolderId];
  await done(
    new sdk.ChannelFoldersApi(cordelia).reorderChannelFolders({
      reorderChannelFoldersParameters: { order },
    }),
  );
  const { channelFolders: listed } = await new sdk.ChannelFoldersApi(hamlet).listChannelFolders();
  same(
    listed.map((folder) => folder.name),
    ["Sonnets", "Plays"],
  );
  await unknown(new sdk.ChannelFoldersApi(stranger).listChannelFolders());
  await bad(
    new sdk.ChannelFoldersApi(cordelia).createChannelFolder({
      createChannelFolderParameters: plays,
    }),
  );
}

/** Makes the channel Denmark, in which Hamlet and Othello are; its id. */
export async function channels(): Promise<number> {
  const both = [people.hamlet.id, people.othello.id];
  const made = await new sdk.SubscriptionsApi(hamlet).subscribe({
    subscribeParameters: {
      subscriptions: [{ name: "Denmark", description: "Rotten?" }, { name: "Verona" }],
      principals: both,
      messageRetentionDays: "realm_default",
      canSendMessageGroup: { directMembers: both, directSubgroups: [] },
      announce: false,
    },
  });
  same(made.subscribed[String(people.othello.id)], ["Denmark", "Verona"]);
  const query = { stream: "Denmark" };
  const { streamId: denmark } = await new sdk.ChannelsApi(hamlet).getChannelId(query);
  const all = await new sdk.ChannelsApi(hamlet).listChannels({ includePublic: true });
  same(only(all.streams, (channel) => channel.name === "Denmark").streamId, denmark);
  const path = { streamId: denmark };
  const red = { property: "color" as const, value: "#f00f00" };
  await done(
    new sdk.SubscriptionsApi(hamlet).updateSubscriptionSetting({
      ...path,
      updateSubscriptionSettingParameters: red,
    }),
  );
  const pinned = { streamId: denmark, property: "pin_to_top" as const, value: true };
  const changes = { subscriptionData: [pinned] };
  await done(
    new sdk.SubscriptionsApi(hamlet).updateSubscriptionSettings({
      updateSubscriptionSettingsParameters: changes,
    }),
  );
  const { subscriptions } = await new sdk.SubscriptionsApi(hamlet).listSubscriptions({
    includeSubscribers: true,
  });
  const mine = only(subscriptions, (each) => each.streamId === denmark);
  same([mine.color, mine.pinToTop, mine.isMuted], ["#f00f00", true, false]);
  same(mine.subscribers, both);
  const senders = mine.canSendMessageGroup;
  same(typeof senders === "number" ? [] : senders.directMembers, both);
  const verona = { subscriptions: ["Verona"] };
  const left = await new sdk.SubscriptionsApi(hamlet).unsubscribe({
    unsubscribeParameters: verona,
  });
  same([left.removed, left.notRemoved], [["Verona"], []]);
  await unknown(new sdk.ChannelsApi(stranger).listChannels());
  await bad(new sdk.ChannelsApi(hamlet).getChannelId({ stream: "Nowhere" }));
  await unknown(new sdk.SubscriptionsApi(stranger).listSubscriptions());
  await bad(
    new sdk.SubscriptionsApi(hamlet).unsubscribe({
      unsubscribeParameters: { subscriptions: ["Nowhere"] },
    }),
  );
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
  const idempotencyKey = "a-fresh-random-value";
  const { id } = await new sdk.MessagesApi(hamlet).sendMessage({
    idempotencyKey,
    sendMessageParameters: body,
  });
  same(
    (await new sdk.MessagesApi(hamlet).sendMessage({ idempotencyKey, sendMessageParameters: body }))
      .id,
    id,
  );
  const to = [people.othello.id];
  const direct = await new sdk.MessagesApi(hamlet).sendMessage({
    sendMessageParameters: { type: "direct", to, content: "Are you honest?" },
  });
  const path = { messageId: direct.id };
  const received = (await new sdk.MessagesApi(hamlet).getMessage(path)).message;
  const names = received.displayRecipient;
  same(typeof names === "string" ? [] : names.map((each) => each.fullName), ["Hamlet", "Othello"]);
  return id;
}

export async function messages(denmark: number): Promise<void> {
  const castle = await send();
  const path = { messageId: castle };
  const raw = { applyMarkdown: false };
  const { message } = await new sdk.MessagesApi(hamlet).getMessage({ ...path, ...raw });
  same([message.content, message.subject], ["Words, *words*, words.", "castle"]);
  same([message.displayRecipient, message.streamId], ["Denmark", denmark]);
  const edit = { content: "Words!" };
  const updated = await new sdk.MessagesApi(hamlet).updateMessage({
    ...path,
    updateMessageParameters: edit,
  });
  same(updated.detachedUploads, []);
  const { messageHistory: history } = await new sdk.MessagesApi(hamlet).listMessageHistory(path);
  same(
    history.map((each) => each.content),
    ["Words, *words*, words.", "Words!"],
  );
  same(history[1]?.prevContent, "Words, *words*, words.");
  const window = { anchor: "newest", numBefore: 10, numAfter: 0 };
  const latest = await new sdk.MessagesApi(hamlet).listMessages(window);
  same(only(latest.messages, (each) => each.id === castle).content, "<p>Words!</p>");
  const narrow = [{ operator: "channel", operand: "Denmark" }];
  const filtered = await new sdk.MessagesApi(hamlet)
    .withPreMiddleware(asking({ narrow }))
    .listMessages(window);
  const where = new Set(filtered.messages.map((each) => each.displayRecipient));
  same([...where], ["Denmark"]);
  same(filtered.messages.at(-1)?.id, castle);
  const two = latest.messages.slice(-2).map((each) => each.id);
  const asked = await new sdk.MessagesApi(hamlet)
    .withPreMiddleware(asking({ message_ids: two }))
    .listMessages();
  same(
    asked.messages.map((each) => each.id),
    two,
  );
  const text = { content: "**bold**" };
  const { rendered } = await new sdk.MessagesApi(hamlet).renderText({ renderTextParameters: text });
  same(rendered, "<p><strong>bold</strong></p>");
  const desk = { moderationRequestChannelId: denmark };
  await done(new sdk.RealmApi(cordelia).updateRealm({ updateRealmParameters: desk }));
  const report = { reportType: "norms" as const, description: "Rude." };
  await done(
    new sdk.MessagesApi(othello).reportMessage({ ...path, reportMessageParameters: report }),
  );
  await flags(castle);
  await topics(denmark, castle);
  await done(new sdk.MessagesApi(hamlet).deleteMessage(path));
  await unknown(new sdk.MessagesApi(stranger).listMessages(window));
  await bad(new sdk.MessagesApi(hamlet).getMessage(path));
}

async function flags(castle: number): Promise<void> {
  const star = { messages: [castle], op: "add", flag: "starred" };
  same(
    (
      await new sdk.MessageFlagsApi(hamlet).updateMessageFlags({
        updateMessageFlagsParameters: star,
      })
    ).messages,
    [castle],
  );
  const narrow = [{ operator: "channel", operand: "Denmark" }];
  const window = { anchor: "newest", numBefore: 10, numAfter: 0, narrow };
  const unstar = { ...window, op: "remove", flag: "starred" };
  const found = await new sdk.MessageFlagsApi(hamlet).updateMessageFlagsForNarrow({
    updateMessageFlagsForNarrowParameters: unstar,
  });
  same([found.updatedCount, found.foundNewest], [1, true]);
  await unknown(
    new sdk.MessageFlagsApi(stranger).updateMessageFlags({ updateMessageFlagsParameters: star }),
  );
  await bad(
    new sdk.MessageFlagsApi(hamlet).updateMessageFlags({
      updateMessageFlagsParameters: { ...star, flag: "x" },
    }),
  );
}

async function topics(denmark: number, castle: number): Promise<void> {
  const path = { streamId: denmark };
  const listed = await new sdk.TopicsApi(hamlet).listTopics(path);
  same(only(listed.topics, (topic) => topic.name === "castle").maxId >= castle, true);
  const follow = { streamId: denmark, topic: "castle", visibilityPolicy: 3 as const };
  await done(new sdk.TopicsApi(hamlet).setUserTopic({ setUserTopicParameters: follow }));
  const mute = { op: "add" as const, streamId: denmark, topic: "castle" };
  await done(new sdk.TopicsApi(hamlet).updateMutedTopic({ updateMutedTopicParameters: mute }));
  await unknown(new sdk.TopicsApi(stranger).listTopics(path));
  await bad(new sdk.TopicsApi(hamlet).listTopics({ streamId: 999999 }));
}
