// Channels with their topics, conversations and people, each with its count of unread messages.

import { find, h, markCurrent, reconcile } from "../client/element.js";
import { addressOf, conversation, keyOf } from "./places.js";

const PEOPLE = 100; // that a filter finds
const CONVERSATIONS = 10; // of a list that is not shown whole
const LONG = 20; // channels
const TOPICS = 12; // of the open channel, read ones
const MOST_TOPICS = 30; // of another channel

export class Sidebar {
  #app;
  #filter = find("filter");
  #items = new Map(); // place -> element: a link that somebody is about to click stays what it is

  #isWhole = { channels: false, people: false };

  constructor(app) {
    this.#app = app;
    for (const list of ["channels", "people"])
      find(`more-${list}`).addEventListener("click", () => {
        this.#isWhole[list] = !this.#isWhole[list];
        this.draw();
      });
    find("sidebar").addEventListener("keydown", (event) => this.#step(event));
    this.#filter.addEventListener("input", () => this.draw());
    this.#filter.form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [first] = this.#links;
      if (first && this.#isFiltered) first.click();
      else first?.focus();
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

  get #links() {
    return [...find("sidebar").querySelectorAll("li a")];
  }

  /** The arrow keys go from the filter into the list and through it. */
  #step(event) {
    const change = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = this.#links;
    const at = event.target === this.#filter ? -1 : links.indexOf(event.target);
    if (change === undefined || (at === -1 && event.target !== this.#filter)) return;
    event.preventDefault();
    if (at + change < 0) this.#filter.focus();
    else links[at + change]?.focus();
  }

  forget() {
    this.#isWhole = { channels: false, people: false };
    this.#items.clear();
    this.#filter.form.reset();
    find("search").form.reset();
    for (const list of ["channels", "people"]) find(list).replaceChildren();
  }

  #matches(name) {
    return name.toLowerCase().includes(this.#filter.value.trim().toLowerCase());
  }

  get #isFiltered() {
    return this.#filter.value.trim() !== "";
  }

  /** All channels of a short list; of a long one those that are open, pinned or unread come first, and
   *  the others on demand. */
  #channels() {
    const { place, state } = this.#app;
    const channels = [...state.channels.values()];
    channels.sort((one, other) => other.pin_to_top - one.pin_to_top || one.name.localeCompare(other.name));
    const isLong = channels.length > LONG;
    const isFolded = isLong && !this.#isFiltered && !this.#isWhole.channels;
    const items = channels.flatMap((channel) => {
      const id = channel.stream_id;
      const isOpen = place?.channelId === id;
      if (isFolded && !isOpen && !channel.pin_to_top && state.unread.count({ channelId: id }) === 0) return [];
      const topics = isLong && !isOpen && !this.#isFiltered ? [] : this.#topics(id);
      if (!this.#matches(channel.name) && topics.length === 0) return [];
      const item = this.#item({ channelId: id }, `#${channel.name}`);
      item.style.setProperty("--channel", channel.color);
      item.classList.toggle("muted-place", channel.is_muted);
      reconcile(item.querySelector("ul"), topics);
      return [item];
    });
    this.#showMore("channels", isLong && !this.#isFiltered, `Show all ${channels.length} channels`);
    return items;
  }

  #showMore(list, isLong, text) {
    const button = find(`more-${list}`);
    button.hidden = !isLong;
    button.textContent = this.#isWhole[list] ? "Show fewer" : text;
    button.setAttribute("aria-expanded", `${this.#isWhole[list]}`);
  }

  /** The topics of the open channel, elsewhere those that are unread; all those that the filter finds. */
  #topics(channelId) {
    const { place, state } = this.#app;
    const isFiltered = this.#isFiltered;
    return state
      .topicsOf(channelId)
      .filter((topic, index) => {
        if (isFiltered) return this.#matches(state.topicName(topic.place.topic));
        if (place && keyOf(place) === keyOf(topic.place)) return true;
        if (index >= MOST_TOPICS && place?.channelId !== channelId) return false;
        return state.unread.count(topic.place) > 0 || (place?.channelId === channelId && index < TOPICS);
      })
      .map(({ place: topic }) => this.#item(topic, state.topicName(topic.topic)));
  }

  /** Conversations, the unread and then the newest first, and people; on demand all of them. */
  #conversations() {
    const { place: here, state } = this.#app;
    const isRead = ({ place }) => state.unread.count(place) === 0;
    const known = [...state.conversations.values()];
    known.sort((one, other) => isRead(one) - isRead(other) || other.lastId - one.lastId);
    const places = new Map(known.map(({ place }) => [keyOf(place), place]));
    const people = [...state.people].filter((id) => !state.users.get(id).is_bot);
    people.sort((one, other) => state.nameOf(one).localeCompare(state.nameOf(other)));
    for (const place of people.map((id) => conversation([id], state.me)))
      if (!places.has(keyOf(place))) places.set(keyOf(place), place);
    const all = [...places.values()];
    const isLong = all.length > CONVERSATIONS && !this.#isFiltered;
    this.#showMore("people", isLong, `Show all ${all.length}`);
    const isFolded = isLong && !this.#isWhole.people;
    const isListed = (place, index) =>
      index < CONVERSATIONS || state.unread.count(place) > 0 || (here !== null && keyOf(here) === keyOf(place));
    const found = this.#isFiltered ? all.filter((place) => this.#matches(state.titleOf(place))).slice(0, PEOPLE) : all;
    const listed = isFolded ? found.filter(isListed) : found;
    return listed.map((place) => this.#item(place, state.titleOf(place)));
  }

  #item(place, name) {
    const key = keyOf(place);
    if (!this.#items.has(key)) {
      const dot = place.userIds?.length === 1 && h("span", { class: "presence" });
      const link = h("a", { href: addressOf(place) }, dot, h("span", { class: "name", dir: "auto" }), h("span", { class: "count" }));
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
