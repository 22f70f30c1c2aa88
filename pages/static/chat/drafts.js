// What is written and not sent: kept in the session storage of the tab, for the account that wrote it,
// so that a reload, a lost session or another place loses nothing. Signing out forgets it.

const NAME = "specd-chat-drafts";

export class Drafts {
  #owner = null;
  #drafts = new Map(); // key -> {place, text, topic}; "edit ID" -> {text}

  /** The email of who wrote what this tab keeps, or "". */
  static owner() {
    return load().owner ?? "";
  }

  /** From now on those of this account; those of another one are forgotten. */
  open(owner) {
    const kept = load();
    this.#owner = owner.toLowerCase();
    this.#drafts = new Map(kept.owner === this.#owner ? kept.drafts : []);
    this.#store();
  }

  get(key) {
    return this.#drafts.get(key);
  }

  values() {
    return [...this.#drafts.values()];
  }

  set(key, draft) {
    if (draft.text === "") this.#drafts.delete(key);
    else this.#drafts.set(key, draft);
    this.#store();
  }

  clear() {
    this.#drafts.clear();
    this.#store();
  }

  #store() {
    if (this.#owner === null) return;
    try {
      if (this.#drafts.size === 0) sessionStorage.removeItem(NAME);
      else sessionStorage.setItem(NAME, JSON.stringify({ owner: this.#owner, drafts: [...this.#drafts] }));
    } catch {
      // The browser has no room for them: they last as long as the page.
    }
  }
}

function load() {
  try {
    const { owner, drafts } = JSON.parse(sessionStorage.getItem(NAME)) ?? {};
    return Array.isArray(drafts) ? { owner, drafts } : {};
  } catch {
    return {}; // not what this page has stored
  }
}
