// Who is there: reports that the user is, and knows when others were. Times are the server's.

const INPUT = ["keydown", "pointerdown", "pointermove", "wheel"];

export class Presence {
  #app;
  #seen = new Map(); // user id -> {active_timestamp, idle_timestamp}
  #lastUpdateId = -1;
  #aheadMs = 0; // of the server's clock
  #isActive = true; // since the last report
  #timer = 0;

  constructor(app) {
    this.#app = app;
    for (const name of INPUT) addEventListener(name, () => (this.#isActive = true), { passive: true });
  }

  /** Report now and then again, until `end`. Bots have no presence. */
  begin() {
    this.end();
    const { state } = this.#app;
    if (!state.users.get(state.me)?.is_bot) this.#report(state);
  }

  end() {
    clearTimeout(this.#timer);
    this.#seen.clear();
    this.#lastUpdateId = -1;
  }

  apply(event) {
    if (event.type === "presence") this.#learn(event.presences);
  }

  /** "active", "idle" or "". */
  statusOf(userId) {
    const { active_timestamp = 0, idle_timestamp = 0 } = this.#seen.get(userId) ?? {};
    const oldest = (Date.now() + this.#aheadMs) / 1000 - this.#app.state.realm.offlineAfterS;
    if (active_timestamp >= oldest) return "active";
    return idle_timestamp >= oldest ? "idle" : "";
  }

  async #report(state) {
    const status = this.#isActive && !document.hidden ? "active" : "idle";
    this.#isActive = false;
    try {
      const answer = await this.#app.api.post("/users/me/presence", { status, last_update_id: this.#lastUpdateId });
      if (this.#app.state !== state) return;
      this.#lastUpdateId = answer.presence_last_update_id;
      this.#aheadMs = answer.server_timestamp * 1000 - Date.now();
      this.#learn(answer.presences);
    } catch {
      // The next report says the same.
    }
    if (this.#app.state === state) this.#timer = setTimeout(() => this.#report(state), state.realm.pingMs);
  }

  #learn(presences) {
    for (const [id, times] of Object.entries(presences)) this.#seen.set(Number(id), times);
    this.#app.redrawSidebar();
  }
}
