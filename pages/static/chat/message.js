// One message: what it says, who may change it, and its editor.

import { ask } from "../client/dialogs.js";
import { find, h } from "../client/element.js";
import { writeIso } from "../client/times.js";
import { actionsOf } from "./actions.js";
import { buttonOf, OFTEN } from "./emoji.js";
import { drawPoll } from "./polls.js";
import { drawReactions, react, reactWithAny } from "./reactions.js";
import { nodesOf, wordsOf } from "./rendered.js";
import { writeClock, writeWhole } from "./times.js";

const SAME_BREATH_S = 600;

/** Whether a message goes on where the one before left off: its sender need not be shown again. */
export function follows(message, before) {
  return (
    before?.sender_id === message.sender_id &&
    message.timestamp - before.timestamp < SAME_BREATH_S &&
    !message.is_me_message
  );
}

function mayEdit(state, message) {
  const { canEdit, editSeconds } = state.realm;
  const age = Date.now() / 1000 - message.timestamp;
  const isWidget = message.submessages.length > 0;
  return canEdit && !isWidget && message.sender_id === state.me && (editSeconds === null || age < editSeconds);
}

/** The item of a message. `app` has the api and the state. One that cannot be drawn is its words. */
export function draw(app, message) {
  try {
    return drawWhole(app, message);
  } catch {
    const sender = h("strong", { class: "sender" }, message.sender_full_name);
    const content = h("div", { class: "content" }, wordsOf(message.content, Infinity));
    return h("li", { class: "message", id: `message-${message.id}` }, h("div", { class: "meta" }, sender), content);
  }
}

function drawWhole(app, message) {
  const name = app.state.users.get(message.sender_id)?.full_name ?? message.sender_full_name;
  const time = h(
    "time",
    { datetime: writeIso(message.timestamp * 1000), title: writeWhole(message.timestamp) },
    writeClock(message.timestamp),
  );
  const content = h("div", { class: "content" });
  content.append(drawPoll(app, message) ?? nodesOf(message.match_content ?? message.content));
  if (message.is_me_message) enact(content, name);
  return h(
    "li",
    { class: "message", id: `message-${message.id}`, "data-mine": message.sender_id === app.state.me },
    drawAvatar(app, message, name),
    h("div", { class: "meta" }, h("strong", { class: "sender", dir: "auto" }, name), time, edited(message)),
    content,
    drawReactions(app, message),
    menu(app, message),
  );
}

/** Show `/me waves` as what its sender does. */
function enact(content, name) {
  content.classList.add("me");
  const first = document.createTreeWalker(content, NodeFilter.SHOW_TEXT).nextNode();
  if (first !== null) first.data = first.data.replace(/^\/me /, () => `${name} `);
}

/** The picture that the sender has uploaded, or else an initial: the page shows nothing of other sites. */
function drawAvatar(app, message, name) {
  const initial = [...name][0];
  const avatar = h("span", { class: "avatar", "aria-hidden": "true" }, initial);
  avatar.style.setProperty("--hue", (message.sender_id * 67) % 360);
  const address = (app.state.users.get(message.sender_id) ?? message).avatar_url;
  if (address?.startsWith("/user_avatars/")) {
    const showInitial = () => avatar.replaceChildren(initial);
    avatar.replaceChildren(h("img", { src: address, alt: "", onerror: showInitial }));
  }
  return avatar;
}

/** Draw what a message says again, around its editor. */
export function redrawContent(app, message, item) {
  const drawn = draw(app, message);
  for (const part of [".content", ".meta"]) item.querySelector(part)?.replaceWith(drawn.querySelector(part));
}

/** Draw the reactions of a message again; the focus stays on the same emoji. */
export function redrawReactions(app, message, item) {
  const before = item.querySelector(".reactions");
  const focused = before?.contains(document.activeElement) && document.activeElement.dataset.emoji;
  before?.remove();
  const after = drawReactions(app, message);
  if (after === null) return;
  item.querySelector(".content").after(after);
  if (focused) after.querySelector(`[data-emoji="${focused}"]`)?.focus();
}

const edited = (message) =>
  message.last_edit_timestamp !== undefined &&
  h("span", { class: "edited", title: writeWhole(message.last_edit_timestamp) }, "edited");

/** A menu that opens at the end of the message. */
function menu(app, message) {
  const item = (name, text, act) => {
    const choose = () => {
      details.open = false;
      act(app, message);
    };
    return h("button", { type: "button", class: name, onclick: choose }, text);
  };
  const often = OFTEN.map(([name, code]) =>
    buttonOf(name, code, () => {
      details.open = false;
      react(app, message, name);
    }),
  );
  const leave = (event) => {
    if (!details.contains(event.relatedTarget)) details.open = false;
  };
  const escape = (event) => {
    if (event.key !== "Escape" || !details.open) return;
    details.open = false;
    details.firstChild.focus();
  };
  const details = h(
    "details",
    { class: "menu", onfocusout: leave, onkeydown: escape },
    h("summary", { "aria-label": "React or change", title: "React or change" }, "⋯"),
    h(
      "div",
      {},
      h("div", { class: "often", role: "group", "aria-label": "React" }, often),
      item("react", "Other emoji…", reactWithAny),
      h("div", { class: "actions" }),
      mayEdit(app.state, message) && item("edit", "Edit", openEditor),
      message.sender_id === app.state.me && item("delete", "Delete", erase),
    ),
  );
  details.addEventListener("toggle", () => {
    // What they say depends on the star and the topic, which change.
    if (details.open) details.querySelector(".actions").replaceChildren(...actionsOf(message).map((each) => item(...each)));
  });
  return details;
}

async function erase(app, message) {
  if (!(await ask("Delete this message?", "It will be deleted for all users and cannot be restored.", "Delete"))) return;
  try {
    await app.api.delete(`/messages/${message.id}`);
  } catch (error) {
    app.complain(error);
  }
}

/** Put a field with the message's source in place of its content. */
async function openEditor(app, message) {
  const item = find(`message-${message.id}`);
  if (item.querySelector("form")) return;
  let source;
  try {
    const answer = await app.api.get(`/messages/${message.id}`, { apply_markdown: false });
    source = answer.message.content;
  } catch (error) {
    return app.complain(error);
  }
  const field = h("textarea", { dir: "auto", "aria-label": "Edited message", rows: 3, maxlength: app.state.realm.maxMessage });
  const refusal = h("p", { class: "refusal", role: "alert" });
  const key = `edit ${message.id}`;
  field.addEventListener("input", () => app.drafts.set(key, { text: field.value === source ? "" : field.value }));
  const close = () => {
    app.drafts.set(key, { text: "" });
    form.remove();
    item.classList.remove("editing");
    item.querySelector(".menu > summary")?.focus();
  };
  const save = async (event) => {
    event.preventDefault();
    try {
      if (field.value !== source) await app.api.patch(`/messages/${message.id}`, { content: field.value });
      close();
    } catch (error) {
      refusal.textContent = error.message;
      field.focus();
    }
  };
  const keys = (event) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
  };
  const form = h(
    "form",
    { class: "editor", onsubmit: save, onkeydown: keys },
    field,
    refusal,
    h("button", { class: "button" }, "Save"),
    h("button", { type: "button", class: "quiet", onclick: close }, "Cancel"),
  );
  field.value = app.drafts.get(key)?.text ?? source;
  item.classList.add("editing");
  item.querySelector(".content").after(form);
  field.focus();
  form.scrollIntoView({ block: "nearest" });
}
