// A poll: its question, and one button for each option, which votes or takes one's vote back.

import { h } from "../client/element.js";

/** The question and the options (key -> text and voters) after all that users did, or null. */
function pollOf({ submessages: [first, ...others] }) {
  if (first === undefined) return null;
  const { widget_type, extra_data } = JSON.parse(first.content);
  if (widget_type !== "poll") return null;
  const poll = { question: extra_data.question, options: new Map() };
  const add = (key, text) => poll.options.set(key, { text, voters: new Set() });
  extra_data.options.forEach((text, index) => add(`canned,${index}`, text));
  for (const { sender_id, content } of others) {
    const change = JSON.parse(content);
    if (change.type === "question") poll.question = change.question;
    if (change.type === "new_option") add(`${sender_id},${change.idx}`, change.option);
    const voters = change.type === "vote" && poll.options.get(change.key)?.voters;
    if (voters) voters[change.vote === 1 ? "add" : "delete"](sender_id);
  }
  return poll;
}

/** The poll of a message, or null where it is none. */
export function drawPoll(app, message) {
  const poll = pollOf(message);
  if (poll === null) return null;
  const options = [...poll.options].map(([key, option]) => h("li", {}, buttonOf(app, message, key, option)));
  return h("div", { class: "poll" }, h("p", {}, h("strong", {}, poll.question || "Poll")), h("ul", {}, options));
}

function buttonOf(app, message, key, { text, voters }) {
  const isMine = voters.has(app.state.me);
  const names = [...voters].map((userId) => app.state.nameOf(userId)).join(", ");
  const vote = async () => {
    const content = { type: "vote", key, vote: isMine ? -1 : 1 };
    try {
      await app.api.post("/submessage", { message_id: message.id, msg_type: "widget", content });
    } catch (error) {
      app.complain(error);
    }
  };
  const properties = { type: "button", "data-key": key, title: names, "aria-pressed": String(isMine), onclick: vote };
  return h("button", properties, h("span", {}, text), h("span", { class: "votes" }, String(voters.size)));
}

/** Apply a `submessage` event to a message. */
export function applySubmessage(message, { sender_id, content }) {
  message.submessages.push({ sender_id, content });
}

/** Draw the poll of a message again; the focus stays on the same option. */
export function redrawPoll(app, message, item) {
  const before = item.querySelector(".poll");
  if (before === null) return;
  const focused = before.contains(document.activeElement) && document.activeElement.dataset.key;
  const after = drawPoll(app, message);
  before.replaceWith(after);
  if (focused) after.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}
