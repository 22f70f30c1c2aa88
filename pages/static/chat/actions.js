// What the menu of a message offers beside emoji, edit and delete: quote, star, link, resolve.

import { announce } from "../client/element.js";
import { addressOf, isView, placeOf } from "./places.js";

const RESOLVED = "✔ ";

const isStarred = (message) => message.flags?.includes("starred") ?? false;

/** The address of a message, in its topic or conversation. */
function linkTo(app, message) {
  const address = addressOf({ ...placeOf(message, app.state.me), near: message.id });
  return `${location.origin}${location.pathname}${address}`;
}

/** Put the message into the field as a quote. */
async function quote(app, message) {
  const answer = await app.api.get(`/messages/${message.id}`, { apply_markdown: false });
  const { content } = answer.message;
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  const who = `@_**${message.sender_full_name}|${message.sender_id}**`;
  const place = isView(app.place) ? placeOf(message, app.state.me) : app.place;
  app.insert(`${who} [said](${linkTo(app, message)}):\n${fence}quote\n${content}\n${fence}\n`, place);
  app.show(place);
}

async function star(app, message) {
  const op = isStarred(message) ? "remove" : "add";
  await app.api.post("/messages/flags", { messages: [message.id], op, flag: "starred" });
  const others = (message.flags ?? []).filter((flag) => flag !== "starred");
  message.flags = op === "add" ? [...others, "starred"] : others;
  announce(op === "add" ? "Starred" : "No longer starred");
}

async function copyLink(app, message) {
  await navigator.clipboard.writeText(linkTo(app, message));
  announce("Link copied");
}

async function resolve(app, message) {
  const topic = message.subject;
  const wanted = topic.startsWith(RESOLVED) ? topic.slice(RESOLVED.length) : RESOLVED + topic;
  await app.api.patch(`/messages/${message.id}`, { topic: wanted, propagate_mode: "change_all" });
}

/** The actions that a message has: class, text, and what is done. */
export function actionsOf(message) {
  const actions = [
    ["quote", "Quote", quote],
    ["star", isStarred(message) ? "Remove the star" : "Star", star],
    ["copy-link", "Copy link", copyLink],
  ];
  if (message.type === "stream" && message.subject !== "") {
    const isResolved = message.subject.startsWith(RESOLVED);
    actions.push(["resolve", isResolved ? "Reopen the topic" : "Resolve the topic", resolve]);
  }
  return actions.map(([name, text, act]) => [name, text, told(act)]);
}

/** The action, which says what went wrong. */
const told = (act) => async (app, message) => {
  try {
    await act(app, message);
  } catch (error) {
    app.complain(error);
  }
};
