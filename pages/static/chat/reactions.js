// The reactions below a message: one button for each emoji, which adds or takes back one's own.

import { h } from "../client/element.js";
import { chooseEmoji, characterOf, loadEmoji } from "./emoji.js";

const keyOf = (reaction) => `${reaction.reaction_type} ${reaction.emoji_code}`;

/** The list, or null where there are none. */
export function drawReactions(app, message) {
  const byEmoji = new Map();
  for (const reaction of message.reactions) {
    if (!byEmoji.has(keyOf(reaction))) byEmoji.set(keyOf(reaction), []);
    byEmoji.get(keyOf(reaction)).push(reaction);
  }
  if (byEmoji.size === 0) return null;
  const buttons = [...byEmoji.values()].map((reactions) => h("li", {}, buttonOf(app, message, reactions)));
  return h("ul", { class: "reactions", "aria-label": "Reactions" }, buttons);
}

function buttonOf(app, message, reactions) {
  const [{ emoji_name, emoji_code, reaction_type }] = reactions;
  const isMine = reactions.some((reaction) => reaction.user_id === app.state.me);
  const names = reactions.map((reaction) => app.state.nameOf(reaction.user_id)).join(", ");
  const shown = reaction_type === "unicode_emoji" ? characterOf(emoji_code) : `:${emoji_name}:`;
  const toggle = () => change(app, message, isMine ? "delete" : "post", { emoji_name, emoji_code, reaction_type });
  const properties = {
    type: "button",
    "data-emoji": emoji_code,
    title: `${names} (${emoji_name})`,
    "aria-label": `${emoji_name.replaceAll("_", " ")}, ${reactions.length}: ${names}`,
    "aria-pressed": String(isMine),
    onclick: toggle,
  };
  return h("button", properties, h("span", {}, shown), h("span", {}, String(reactions.length)));
}

/** Add the emoji of this name. */
export function react(app, message, emoji_name) {
  return change(app, message, "post", { emoji_name });
}

/** Let the user choose an emoji, and add it. */
export async function reactWithAny(app, message) {
  try {
    await loadEmoji(app.state.realm.emojiAddress);
  } catch {
    return app.complain(new Error("The emoji could not be loaded."));
  }
  const name = await chooseEmoji();
  if (name !== "") await react(app, message, name);
}

async function change(app, message, method, reaction) {
  try {
    await app.api[method](`/messages/${message.id}/reactions`, reaction);
  } catch (error) {
    // It is as the user wants it: another window was first.
    if (error.code !== "REACTION_ALREADY_EXISTS" && error.code !== "REACTION_DOES_NOT_EXIST") app.complain(error);
  }
}

/** Apply a `reaction` event to a message. */
export function applyReaction(message, { op, emoji_name, emoji_code, reaction_type, user_id }) {
  const reaction = { emoji_name, emoji_code, reaction_type, user_id };
  const isSame = (other) => other.user_id === user_id && keyOf(other) === keyOf(reaction);
  message.reactions = message.reactions.filter((other) => !isSame(other));
  if (op === "add") message.reactions.push(reaction);
}
