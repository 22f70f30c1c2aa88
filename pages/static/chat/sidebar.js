// Channels with their topics, conversations and people, each with its count of unread messages.

import { find, h, markCurrent, reconcile } from "../client/element.js";
import { addressOf, conversation, keyOf } from "./places.js";

const PEOPLE = 30; // at most, unless the filter asks for others
const TOPICS = 12;

export class Sidebar {
  #app;
  #filter = find("filter");
  #items = new Map(); // place -> element: a link that somebody is about to click stays what it is

  constructor(app) {
    this.#app = app;
    this.#filter.addEventListener("input", () => this.draw());
    this.#filter.form.addEventListener("submit", (event) => {
      event.preventDefault();
      find("sidebar").querySelector("a")?.focus();
    });
    find("search").form.addEventListener("submit", (event) => {
      event.preventDefault();
      const words = find("search").value.trim();
      if (words !== "") this.#app.show({ search: words });
    });
  }

  draw() {
    const { state } = this.#app;
    reconcile(find("channels"), this.#channels());
    reconcile(find("people"), this.#conversations());
    const { total } = state.unread;
    document.title = `${total > 0 ? `(${total}) ` : ""}${state.realm.name}`;
  }

  forget() {
    this.#items.clear();
    this.#filter.form.reset();
    find("search").form.reset();
    for (const list of ["channels", "people"]) find(list).replaceChildren();
  }

  #matches(name) {
    return name.toLowerCase().includes(this.#filter.value.trim().toLowerCase());
  }

  #channels() {
    const channels = [...this.#app.state.channels.values()];
    channels.sort((one, other) => other.pin_to_top - one.pin_to_top || one.name.localeCompare(other.name));
    return channels.flatMap((channel) => {
      const topics = this.#topics(channel.stream_id);
      if (!this.#matches(channel.name) && topics.length === 0) return [];
      const item = this.#item({ channelId: channel.stream_id }, `#${channel.name}`);
      item.style.setProperty("--channel", channel.color);
      item.classList.toggle("muted-place", channel.is_muted);
      reconcile(item.querySelector("ul"), topics);
      return [item];
    });
  }

  /** The topics of the open channel, elsewhere those that are unread; all those that the filter finds. */
  #topics(channelId) {
    const { place, state } = this.#app;
    const isFiltered = this.#filter.value.trim() !== "";
    return state
      .topicsOf(channelId)
      .filter((topic, index) => {
        if (isFiltered) return this.#matches(state.topicName(topic.place.topic));
        if (place && keyOf(place) === keyOf(topic.place)) return true;
        return state.unread.count(topic.place) > 0 || (place?.channelId === channelId && index < TOPICS);
      })
      .map(({ place: topic }) => this.#item(topic, state.topicName(topic.topic)));
  }

  #conversations() {
    const { state } = this.#app;
    const known = [...state.conversations.values()].sort((one, other) => other.lastId - one.lastId);
    const places = new Map(known.map(({ place }) => [keyOf(place), place]));
    const people = [...state.people].filter((id) => !state.users.get(id).is_bot);
    people.sort((one, other) => state.nameOf(one).localeCompare(state.nameOf(other)));
    for (const place of people.map((id) => conversation([id], state.me)))
      if (!places.has(keyOf(place))) places.set(keyOf(place), place);
    const found = [...places.values()].filter((place) => this.#matches(state.titleOf(place)));
    return found.slice(0, Math.max(PEOPLE, known.length)).map((place) => this.#item(place, state.titleOf(place)));
  }

  #item(place, name) {
    const key = keyOf(place);
    if (!this.#items.has(key)) {
      const dot = place.userIds?.length === 1 && h("span", { class: "presence" });
      const link = h("a", { href: addressOf(place) }, dot, h("span", { class: "name" }), h("span", { class: "count" }));
      this.#items.set(key, h("li", {}, link, place.topic === undefined && !place.userIds && h("ul", {})));
    }
    const item = this.#items.get(key);
    const link = item.firstChild;
    const [count, label, dot] = [...link.children].reverse();
    const unread = this.#app.state.unread.count(place);
    label.textContent = name;
    if (dot) this.#showPresence(dot, place.userIds[0]);
    count.hidden = unread === 0;
    count.replaceChildren(String(unread), h("span", { class: "unseen" }, " unread"));
    markCurrent(link, this.#app.place !== null && keyOf(this.#app.place) === key);
    return item;
  }
  #showPresence(dot, userId) {
    const status = this.#app.presence.statusOf(userId);
    dot.dataset.status = status;
    dot.replaceChildren(h("span", { class: "unseen" }, status && `${status}: `));
  }
}
