// The dialog that creates a test invoice and opens its checkout page in a tab of its own.

import { open } from "../client/dialogs.js";
import { announce, find, h } from "../client/element.js";
import { idempotencyKey } from "../client/requests.js";
import { readUnits } from "./money.js";

export class Creation {
  #app;
  #dialog = find("creation");
  #form = find("creation-form");
  #refusal = find("creation-refusal");
  #tried = { text: null, key: null };

  constructor(app) {
    this.#app = app;
    for (const button of document.querySelectorAll("[data-create]")) button.addEventListener("click", () => this.#open());
    for (const id of ["method", "amount"]) find(id).addEventListener("input", () => this.#tellAtoms());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  forget() {
    this.#form.reset();
    this.#tried = { text: null, key: null };
  }

  async #open() {
    const { api } = this.#app;
    this.#form.reset();
    this.#refusal.textContent = "";
    find("new-order").value = `test-${Date.now().toString(36)}-${idempotencyKey().slice(0, 4)}`;
    this.#draw();
    open(this.#dialog);
    find("amount").focus();
    find("amount").select();
    try {
      await this.#app.learnMethods(); // whether they are available just now
      if (this.#dialog.open) this.#draw();
    } catch (error) {
      this.#app.fail(api, error);
    }
  }

  #draw() {
    const chosen = find("method").value;
    const methods = [...this.#app.methods.values()];
    find("method").replaceChildren(...methods.map(optionOf));
    const usable = methods.filter(({ available }) => available);
    const kept = usable.find(({ id }) => id === chosen) ?? usable[0];
    if (kept !== undefined) find("method").value = kept.id;
    find("no-methods").hidden = usable.length > 0;
    find("create").disabled = usable.length === 0;
    this.#tellAtoms();
  }

  get #method() {
    return this.#app.methods.get(find("method").value);
  }

  #tellAtoms() {
    if (this.#method === undefined) return;
    try {
      find("atoms").textContent = `${readUnits(find("amount").value.trim(), this.#method.decimals)} atomic units`;
    } catch {
      find("atoms").textContent = "";
    }
  }

  async #submit() {
    if (this.#form.getAttribute("aria-busy") === "true") return;
    const amount = find("amount").value.trim();
    this.#refusal.textContent = "";
    try {
      readUnits(amount, this.#method.decimals);
    } catch (error) {
      this.#refusal.textContent = error.message;
      return find("amount").focus();
    }
    const order = { external_order_id: find("new-order").value, attempt_no: 1, amount, payment_method_id: this.#method.id };
    // Now, while the browser sees that somebody asked for it; the page there may not reach this one.
    const tab = window.open("about:blank", "_blank");
    if (tab !== null) tab.opener = null;
    const { api } = this.#app;
    this.#form.setAttribute("aria-busy", "true");
    try {
      const { invoice, checkout_url } = await this.#create(api, order);
      if (this.#app.api !== api) return tab?.close();
      tab?.location.replace(checkout_url);
      this.#dialog.close();
      this.#app.welcome(invoice, checkout_url);
      announce(tab === null ? "The invoice was created." : "The invoice was created; its checkout page opens in a new tab.");
    } catch (error) {
      tab?.close();
      if (error.status === 401) this.#app.fail(api, error);
      else this.#refusal.textContent = error.message;
    } finally {
      this.#form.setAttribute("aria-busy", "false");
    }
  }

  /** The same order is the same request until it has come to its end. */
  async #create(api, order) {
    const text = JSON.stringify(order);
    if (this.#tried.text !== text) this.#tried = { text, key: idempotencyKey() };
    const invoice = await api.post("/invoices", { body: order, headers: { "Idempotency-Key": this.#tried.key } });
    const { checkout_url } = await api.post(`/invoices/${invoice.id}/checkout-sessions`);
    this.#tried = { text: null, key: null };
    return { invoice, checkout_url };
  }
}

function optionOf({ id, token_symbol, chain_name, available }) {
  const text = `${token_symbol} on ${chain_name} (${id})${available ? "" : ": not available"}`;
  return h("option", { value: id, disabled: !available }, text);
}
