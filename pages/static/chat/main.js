// The chat page: signs a person in, keeps their state true, and shows the place they are at.

import { announce, find } from "../client/element.js";
import { insist } from "../client/patience.js";
import { Api } from "./api.js";
import { Attaching } from "./attaching.js";
import { Channels } from "./channels.js";
import { Completion } from "./completion.js";
import { Compose } from "./compose.js";
import { addressOf, keyOf, placeAt } from "./places.js";
import { Presence } from "./presence.js";
import { Queue } from "./queue.js";
import { Scheduled } from "./scheduled.js";
import { end, resume, Sessions } from "./sessions.js";
import { Sidebar } from "./sidebar.js";
import { SignIn } from "./signin.js";
import { placeAfterMove, State } from "./state.js";
import { announceMessage, Timeline } from "./timeline.js";
import { Typing } from "./typing.js";

class App {
  api = null;
  state = null;
  place = null;
  presence = new Presence(this);
  #queue = null;
  #sessionId = null;
  #sidebar = new Sidebar(this);
  #timeline = new Timeline(this);
  #completion = new Completion(this);
  #compose = new Compose(this);
  #typing = new Typing(this);
  #scheduled = new Scheduled(this);
  #signIn = new SignIn((email, key, sessionId) => this.#enter(email, key, sessionId));

  async start() {
    addEventListener("hashchange", () => this.#follow());
    // The key goes with the page: a page that the browser kept for its back button begins anew.
    addEventListener("pagehide", () => this.#queue?.stop());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    find("sign-out").addEventListener("click", () => this.#signOut());
    new Attaching(this);
    new Channels(this);
    new Sessions(this);
    let text = "";
    try {
      const account = await resume();
      if (account !== null) return this.#enter(account.email, account.api_key, account.session_id);
    } catch (error) {
      text = error.message;
    }
    this.#signIn.open(text);
  }

  /** Go to a place. */
  show(place) {
    if (this.place === null || keyOf(place) !== keyOf(this.place)) location.hash = addressOf(place);
  }

  /** Show what went wrong, until the next step. */
  complain(error) {
    find("trouble").textContent = error.message;
    find("trouble").hidden = false;
  }

  /** Put a text into the message that is being written, here or at another place. */
  insert(text, place) {
    this.#compose.insert(text, place);
  }

  redrawSidebar() {
    this.#sidebar.draw();
  }

  #enter(email, key, sessionId) {
    this.api = new Api(email, key);
    this.#sessionId = sessionId;
    this.#queue = new Queue(this.api, {
      snapshot: (snapshot) => this.#begin(snapshot),
      events: (events) => this.#apply(events),
      trouble: (failures) => (find("offline").hidden = failures < 2),
      refused: (error) => this.#leave(error.message),
    });
    this.#queue.run();
  }

  #signOut() {
    const { api } = this;
    const sessionId = this.#sessionId;
    this.#leave();
    if (sessionId !== null) end(api, sessionId, (text) => this.#signIn.tell(text));
  }

  #leave(text = "") {
    this.#completion.close();
    this.#compose.forget();
    this.#typing.clear();
    this.presence.end();
    this.#queue?.stop();
    this.api = this.state = this.place = this.#queue = this.#sessionId = null;
    this.#timeline.close();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    find("chat").hidden = true;
    this.#sidebar.forget();
    find("scheduled-list").replaceChildren();
    find("session-list").replaceChildren();
    announce("");
    history.replaceState(null, "", location.pathname);
    document.title = "Chat";
    this.#signIn.open(text);
  }

  #begin(snapshot) {
    const before = this.state;
    this.state = new State(snapshot);
    if (before !== null && before.me !== this.state.me) this.#move(before);
    find("realm").textContent = this.state.realm.name;
    find("me").textContent = this.state.nameOf(this.state.me);
    find("chat").hidden = false;
    this.#scheduled.draw();
    this.#follow();
    this.presence.begin();
    if (before === null && this.place === null) find("filter").focus();
  }

  /** The organization has moved to another installation, where everything has another id. */
  #move(before) {
    const moved = (place) => placeAfterMove(place, before, this.state);
    this.#compose.move(moved);
    this.#typing.clear();
    const place = placeAt(location.hash);
    const address = place === null ? null : moved(place);
    history.replaceState(null, "", address === null ? location.pathname : addressOf(address));
    if (this.#sessionId !== null) this.#findSession();
  }

  async #findSession() {
    const { api } = this;
    const account = await insist(new AbortController().signal, resume).catch(() => null);
    if (this.api === api && account !== null) this.#sessionId = account.session_id;
  }

  #apply(events) {
    if (this.state === null || events.length === 0) return;
    for (const event of events) {
      this.state.apply(event);
      this.#timeline.apply(event);
      this.#typing.apply(event);
      this.presence.apply(event);
      if (event.type === "message") announceMessage(this.state, event.message);
    }
    if (events.some((event) => event.type === "scheduled_messages")) this.#scheduled.draw();
    this.#sidebar.draw();
    if (this.place !== null) find("place").textContent = this.state.titleOf(this.place);
  }

  /** Show the place that the address names. */
  #follow() {
    if (this.state === null) return;
    const place = placeAt(location.hash);
    this.place = place;
    find("chat").toggleAttribute("data-open", place !== null);
    find("conversation").hidden = place === null;
    find("welcome").hidden = place !== null;
    find("trouble").hidden = true;
    if (place === null) this.#timeline.close();
    else this.#open(place);
    this.#typing.draw();
    this.#sidebar.draw();
  }

  #open(place) {
    find("place").textContent = this.state.titleOf(place);
    this.#compose.open(place);
    this.#timeline.open(place);
    // A field with the focus would bring up the keyboard of a phone.
    if (place.search !== undefined || matchMedia("(pointer: coarse)").matches) find("place").focus();
    else this.#compose.focus();
    if (place.channelId !== undefined) this.#loadTopics(place.channelId);
  }

  async #loadTopics(channelId) {
    const { state } = this;
    try {
      const answer = await this.api.get(`/users/me/${channelId}/topics`, { allow_empty_topic_name: true });
      state.learnTopics(channelId, answer.topics);
      if (this.state === state) this.#sidebar.draw();
    } catch (error) {
      if (this.state === state) this.complain(error);
    }
  }
}

new App().start();
