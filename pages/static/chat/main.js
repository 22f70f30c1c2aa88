// The chat page: signs a person in, keeps their state true, and shows the place they are at.

import { announce, find } from "../client/element.js";
import { insist } from "../client/patience.js";
import { Api } from "./api.js";
import { Attaching } from "./attaching.js";
import { Channels } from "./channels.js";
import { Completion } from "./completion.js";
import { Compose } from "./compose.js";
import { Drafts } from "./drafts.js";
import { addressOf, isView, keyOf, placeAt, placeOf } from "./places.js";
import { Presence } from "./presence.js";
import { Queue } from "./queue.js";
import { Scheduled } from "./scheduled.js";
import { end, resume, Sessions } from "./sessions.js";
import { Shortcuts } from "./shortcuts.js";
import { Sidebar } from "./sidebar.js";
import { SignIn } from "./signin.js";
import { placeAfterMove, State } from "./state.js";
import { announceMessage, Timeline } from "./timeline.js";
import { Typing } from "./typing.js";

class App {
  api = null;
  state = null;
  place = null;
  drafts = new Drafts();
  presence = new Presence(this);
  #queue = null;
  #failures = 0; // in a row, of the queue
  #sessionId = null;
  #email = "";
  #sidebar = new Sidebar(this);
  #timeline = new Timeline(this);
  #completion = new Completion(this);
  #compose = new Compose(this, this.drafts);
  #typing = new Typing(this);
  #scheduled = new Scheduled(this);
  #signIn = new SignIn((email, key, sessionId) => this.#enter(email, key, sessionId));

  async start() {
    addEventListener("hashchange", () => this.#follow());
    // The key goes with the page: a page that the browser kept for its back button begins anew.
    addEventListener("pagehide", () => this.#queue?.stop());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    for (const name of ["offline", "online"]) addEventListener(name, () => this.#tellTrouble(this.#failures));
    find("sign-out").addEventListener("click", () => this.#signOut());
    new Attaching(this);
    new Channels(this);
    new Shortcuts(this);
    new Sessions(this);
    let text = "";
    try {
      const account = await resume();
      if (account !== null) return this.#enter(account.email, account.api_key, account.session_id);
    } catch (error) {
      text = error.message;
    }
    this.#signIn.open(text, Drafts.owner());
  }

  /** Go to a place. */
  show(place) {
    if (addressOf(place) !== location.hash) location.hash = addressOf(place);
  }

  /** Go to the message that was just sent to a place. */
  showSent(place, id) {
    if (keyOf(place) === keyOf(this.place)) this.#timeline.showNewest();
    else this.show({ ...place, near: id });
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

  /** Go on writing. */
  write() {
    this.#compose.focus();
  }

  /** Edit your last message here, if it is in the list and can be edited. */
  editLast() {
    return this.#timeline.editLast();
  }

  /** Go to the place of the oldest unread message elsewhere. */
  showNextUnread() {
    const place = this.state.nextUnread(this.place);
    if (place === null) announce("No other unread messages");
    else this.show(place);
  }

  redrawSidebar() {
    this.#sidebar.draw();
  }

  #enter(email, key, sessionId) {
    this.api = new Api(email, key);
    this.#sessionId = sessionId;
    this.#email = email;
    this.drafts.open(email);
    this.#queue = new Queue(this.api, {
      snapshot: (snapshot) => this.#begin(snapshot),
      events: (events) => this.#apply(events),
      trouble: (failures) => this.#tellTrouble(failures),
      refused: (error) => this.#leave({ text: error.message, address: location.hash, email: this.#email }),
    });
    this.#queue.run();
  }

  /** The browser knows of a network that is gone before a request fails. */
  #tellTrouble(failures) {
    this.#failures = failures;
    find("offline").hidden = this.#queue === null || (navigator.onLine && failures < 2);
    if (failures === 0 && navigator.onLine) this.#timeline.recover();
  }

  #signOut() {
    const { api } = this;
    const sessionId = this.#sessionId;
    this.#compose.close();
    this.drafts.clear();
    this.#leave();
    if (sessionId !== null) end(api, sessionId, (text) => this.#signIn.tell(text));
  }

  /** Show the form to sign in. Who is signed out against their will finds their place and their drafts
   *  again. */
  #leave({ text = "", address = "", email = "" } = {}) {
    find("offline").hidden = true;
    this.#completion.close();
    this.#compose.close();
    this.#typing.clear();
    this.presence.end();
    this.#queue?.stop();
    this.api = this.state = this.place = this.#queue = this.#sessionId = null;
    this.#timeline.forget();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    find("chat").hidden = true;
    this.#sidebar.forget();
    find("scheduled-list").replaceChildren();
    find("session-list").replaceChildren();
    announce("");
    history.replaceState(null, "", location.pathname + address);
    document.title = "Chat";
    this.#signIn.open(text, email);
  }

  #begin(snapshot) {
    const before = this.state;
    this.state = new State(snapshot);
    if (before !== null && before.me !== this.state.me) this.#move(before);
    find("realm").textContent = this.state.realm.name;
    find("me").textContent = this.state.nameOf(this.state.me);
    find("chat").hidden = false;
    this.#scheduled.draw();
    this.#follow({ stays: before !== null && before.me === this.state.me });
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

  /** Where a message is, or null: told why. */
  async placeOfMessage(id) {
    const { api, state } = this;
    try {
      const { message } = await api.get(`/messages/${id}`, { allow_empty_topic_name: true });
      return placeOf(message, state.me);
    } catch (error) {
      const isGone = error.status === 400;
      const text = "This message was deleted, or you cannot read it.";
      if (this.state === state) this.complain(isGone ? new Error(text) : error);
      return null;
    }
  }

  /** Go to the place of a message of which the address has no more than the id. */
  async #seek(place) {
    const { hash } = location;
    const there = await this.placeOfMessage(place.near);
    if (there === null || location.hash !== hash) return;
    location.replace(addressOf({ ...there, near: place.near }));
  }

  /** Show the place that the address names. With `stays`, it is open already. */
  #follow({ stays = false } = {}) {
    if (this.state === null) return;
    const address = placeAt(location.hash);
    const isSought = address !== null && keyOf(address).startsWith("message ");
    const place = isSought ? null : address;
    if (isSought) this.#seek(address);
    this.place = place;
    find("chat").toggleAttribute("data-open", place !== null);
    find("conversation").hidden = place === null;
    find("welcome").hidden = place !== null;
    find("trouble").hidden = true;
    if (place === null) this.#timeline.close();
    else this.#open(place, stays);
    this.#typing.draw();
    this.#sidebar.draw();
  }

  #open(place, stays) {
    find("place").textContent = this.state.titleOf(place);
    this.#compose.open(place);
    this.#timeline.open(place, { stays });
    if (stays) return;
    // A field with the focus would bring up the keyboard of a phone.
    if (isView(place) || matchMedia("(pointer: coarse)").matches) find("place").focus();
    else this.#compose.focus();
    if (place.channelId !== undefined) this.#loadTopics(place.channelId);
  }

  async #loadTopics(channelId) {
    const { state } = this;
    try {
      const answer = await this.api.get(`/users/me/${channelId}/topics`, { allow_empty_topic_name: true });
      state.learnTopics(channelId, answer.topics);
      if (this.state !== state) return;
      this.#sidebar.draw();
      this.#compose.offerTopics();
    } catch (error) {
      if (this.state === state) this.complain(error);
    }
  }
}

new App().start();
