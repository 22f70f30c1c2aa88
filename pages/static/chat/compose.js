// Writing a message: now or for later. What is not sent yet is kept for each place.

import { open } from "../client/dialogs.js";
import { find, h } from "../client/element.js";
import { idempotencyKey } from "../client/requests.js";
import { writeShort } from "../client/times.js";
import { Drafts } from "./drafts.js";
import { isView, keyOf, recipientsOf } from "./places.js";
import { fieldValueOf, laterTimes } from "./times.js";
import { Typist } from "./typing.js";

const OFFERED = 20; // topics

export class Compose {
  #app;
  #form = find("compose");
  #content = find("content");
  #topic = find("topic");
  #refusal = find("compose-refusal");
  #told = find("compose-told");
  #drafts;
  #isAsked = false; // whether no topic is meant
  #tried = { text: null, key: null };
  #place = null;
  #typist;

  constructor(app, drafts) {
    this.#app = app;
    this.#drafts = drafts;
    this.#typist = new Typist(app);
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#send();
    });
    find("show-formats").addEventListener("click", () => open(find("formats")));
    find("schedule").addEventListener("click", () => this.#schedule());
    this.#content.addEventListener("keydown", (event) => this.#press(event));
    this.#topic.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault(); // the browser would choose from the list of topics
      this.#form.requestSubmit();
    });
    this.#content.addEventListener("input", () => {
      this.#refusal.textContent = "";
      this.#told.textContent = "";
      this.#keepHere();
      this.#typist.type(this.#target, this.#content.value);
    });
  }

  /** Write to this place from now on. */
  open(place) {
    this.#keepHere();
    this.#typist.stop();
    this.#form.hidden = isView(place);
    this.#place = this.#form.hidden ? null : place;
    if (this.#form.hidden) return;
    const { maxMessage, maxTopic, emptyTopic } = this.#app.state.realm;
    this.#content.maxLength = maxMessage;
    this.#topic.maxLength = maxTopic;
    this.#topic.placeholder = emptyTopic;
    this.#topic.value = place.topic ?? this.#draftOf(place)?.topic ?? "";
    this.#isAsked = false;
    this.offerTopics();
    find("topic-field").hidden = place.userIds !== undefined;
    this.#content.value = this.#draftOf(place)?.text ?? "";
    this.#refusal.textContent = "";
    this.#told.textContent = "";
  }

  /** Offer the topics of the channel, the newest first. */
  offerTopics() {
    const { channelId } = this.#place ?? {};
    const topics = channelId === undefined ? [] : this.#topicsOf(channelId).slice(0, OFFERED);
    find("topics").replaceChildren(...topics.map((topic) => h("option", { value: topic })));
  }

  focus() {
    this.#content.focus();
  }

  /** Put a text at the end of what is written, here or at another place. */
  insert(text, place) {
    const isHere = this.#place !== null && keyOf(place) === keyOf(this.#place);
    const written = isHere ? this.#content.value : (this.#draftOf(place)?.text ?? "");
    const longer = written === "" || written.endsWith("\n") ? written + text : `${written}\n${text}`;
    if (!isHere) return this.#keep(place, longer);
    this.#content.value = longer;
    this.#keepHere();
    this.focus();
  }

  /** Stop writing; what is written is kept. */
  close() {
    this.#keepHere();
    this.#typist.stop();
    this.#place = null;
    this.#form.reset();
  }

  /** Keep what is written for the places that `placeAfterMove` returns, null for none. */
  move(placeAfterMove) {
    this.#keepHere();
    this.#place = null;
    const drafts = this.#drafts.values();
    this.#drafts.clear();
    for (const { place, text, topic } of drafts) {
      const moved = place === undefined ? null : placeAfterMove(place);
      if (moved !== null) this.#keep(moved, text, topic);
    }
  }

  #keepHere() {
    if (this.#place !== null) this.#keep(this.#place, this.#content.value, this.#topic.value);
  }

  #keep(place, text, topic) {
    this.#drafts.set(keyOf(place), { place, text, topic });
  }

  #draftOf(place) {
    return this.#drafts.get(keyOf(place));
  }

  #topicsOf(channelId) {
    return this.#app.state.topicsOf(channelId).flatMap(({ place }) => place.topic || []);
  }

  #press(event) {
    if (event.key === "ArrowUp" && this.#content.value === "" && !event.isComposing) {
      if (this.#app.editLast()) event.preventDefault();
      return;
    }
    if (event.key !== "Enter" || event.isComposing || event.shiftKey) return;
    const isTouched = matchMedia("(pointer: coarse)").matches; // there the key makes a new line
    if (isTouched && !event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.#form.requestSubmit();
  }

  get #target() {
    return this.#place.userIds ? this.#place : { ...this.#place, topic: this.#topic.value.trim() };
  }

  /** The answer, once the server took it and the user is still there, else null. The same text is the
   *  same request until then. */
  async #post(path, target, parameters) {
    const body = { ...recipientsOf(target), content: this.#content.value, read_by_sender: true, ...parameters };
    const place = this.#place;
    const text = JSON.stringify([path, body]);
    if (this.#tried.text !== text) this.#tried = { text, key: idempotencyKey() };
    this.#form.setAttribute("aria-busy", "true");
    let answer;
    try {
      answer = await this.#app.api.post(path, body, { headers: { "Idempotency-Key": this.#tried.key } });
    } catch (error) {
      this.#refusal.textContent = error.message;
      return null;
    } finally {
      this.#form.setAttribute("aria-busy", "false");
    }
    this.#tried = { text: null, key: null };
    if (this.#place === place) this.#content.value = "";
    this.#keep(place, "");
    this.#isAsked = false;
    this.#typist.stop();
    return this.#place === place ? answer : null;
  }

  async #send() {
    if (this.#form.getAttribute("aria-busy") === "true" || this.#content.value.trim() === "") return;
    const target = this.#target;
    if (this.#mustAsk(target)) return;
    const sent = await this.#post("/messages", target, {});
    if (sent !== null) this.#app.showSent(target, sent.id);
    this.focus();
  }

  /** In a channel with topics an empty field is more likely an oversight than a choice: ask once. */
  #mustAsk({ channelId, topic }) {
    const isChoice = this.#place.topic !== undefined || topic !== "" || this.#isAsked;
    if (channelId === undefined || isChoice || this.#topicsOf(channelId).length === 0) return false;
    this.#isAsked = true;
    const { emptyTopic } = this.#app.state.realm;
    this.#refusal.textContent = `Choose a topic, or send again to write to “${emptyTopic}”.`;
    this.#topic.focus();
    return true;
  }

  async #schedule() {
    if (this.#content.value.trim() === "") {
      this.#refusal.textContent = "Write the message first.";
      return this.focus();
    }
    const field = find("when");
    const times = laterTimes();
    field.min = fieldValueOf(new Date());
    field.value = fieldValueOf(times[0][1]);
    const choose = (time) => () => (field.value = fieldValueOf(time));
    const button = ([name, time]) => h("button", { type: "button", class: "quiet", onclick: choose(time) }, name);
    find("presets").replaceChildren(...times.map(button));
    if ((await open(find("scheduling"))) !== "schedule") return this.focus();
    const at = new Date(field.value).getTime();
    const parameters = { scheduled_delivery_timestamp: Math.floor(at / 1000) };
    if ((await this.#post("/scheduled_messages", this.#target, parameters)) !== null)
      this.#told.textContent = `Scheduled for ${writeShort(at)}.`;
    this.focus();
  }
}
