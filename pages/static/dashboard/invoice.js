// The open invoice: what is owed and what has arrived, its payments, its events and their deliveries.

import { announce, find, h } from "../client/element.js";
import { insist } from "../client/patience.js";
import { badge } from "./badge.js";
import { copyable } from "./copying.js";
import { Deliveries } from "./deliveries.js";
import { explorerLink } from "./explorers.js";
import { History } from "./history.js";
import { writeAmount } from "./money.js";
import { addressOf, INVOICES } from "./places.js";
import { Resolution } from "./resolution.js";
import { minuteOf, secondOf } from "./times.js";
import { describe, describePayment } from "./wording.js";

const LOOK_MS = 3000; // for confirmations, which are no events

export class InvoiceView {
  #app;
  #history;
  #deliveries;
  #resolution;
  #id = null;
  #drawn = "";
  #timer = 0;
  #stop = new AbortController();

  constructor(app) {
    this.#app = app;
    this.#history = new History(app);
    this.#deliveries = new Deliveries(app, this.#history);
    this.#resolution = new Resolution(app);
    find("new-checkout").addEventListener("click", () => this.#createCheckout());
  }

  open(id) {
    if (id === this.#id) return;
    this.close();
    this.#id = id;
    find("invoice").hidden = false;
    find("invoice").scrollTop = 0;
    this.draw();
    find("invoice-title").focus();
    this.load();
  }

  /** Read all that is shown, once more where it was read before. */
  async load() {
    if (this.#id === null) return;
    this.#stop.abort();
    this.#stop = new AbortController();
    const { api } = this.#app;
    const { signal } = this.#stop;
    find("invoice").setAttribute("aria-busy", "true");
    try {
      const parts = [this.#read(signal), this.#history.open(this.#id, signal)];
      await Promise.all([...parts, this.#resolution.open(this.#id, signal)]);
      await this.#deliveries.open(this.#app.invoices.get(this.#id), signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error.status === 404) this.#app.goBack();
      this.#app.fail(api, error);
    }
    find("invoice").setAttribute("aria-busy", "false");
  }

  close() {
    this.#stop.abort();
    clearTimeout(this.#timer);
    this.#id = null;
    this.#drawn = "";
    this.#deliveries.close();
    this.#resolution.close();
    find("invoice").hidden = true;
    for (const part of ["invoice-title", "invoice-state", "facts", "payments", "events", "ready"]) find(part).replaceChildren();
    find("invoice-text").textContent = "";
  }

  /** An event of the project: the invoice itself is taken already. */
  apply(event) {
    if (event.invoice_id !== this.#id || this.#id === null) return;
    this.#history.add(event);
    this.#resolution.take(event.data.invoice);
    this.#deliveries.expect();
    this.#deliveries.draw();
    this.draw();
  }

  /** Draw what has changed. */
  draw() {
    const invoice = this.#app.invoices.get(this.#id);
    if (invoice === undefined) return;
    this.#watch(invoice);
    const method = this.#app.methods.get(invoice.payment_method_id);
    const text = JSON.stringify([invoice, method, this.#app.checkouts.get(invoice.id)]);
    if (text === this.#drawn) return; // a text that somebody marks stays
    this.#drawn = text;
    const { words, text: advice, tone } = describe(invoice);
    document.title = `${invoice.external_order_id} · ${words}`;
    find("invoice-title").replaceChildren(writeAmount(invoice.amount, method));
    find("invoice-state").replaceChildren(badge({ tone, words }));
    find("invoice-text").textContent = advice;
    this.#drawCheckout(invoice);
    this.#resolution.offer(invoice);
    find("facts").replaceChildren(...factsOf(invoice, method));
    find("payments").replaceChildren(...invoice.payments.map((payment) => rowOf(payment, invoice, method)));
    find("payments").closest("table").hidden = invoice.payments.length === 0;
    find("no-payments").hidden = invoice.payments.length > 0;
  }

  #drawCheckout({ id, status }) {
    const address = status === "unpaid" && this.#app.checkouts.get(id);
    const link = { class: "button", href: address, target: "_blank", rel: "noopener" };
    const shown = address ? [h("a", link, "Open the checkout page"), copyable(address, "checkout page")] : [];
    find("ready").replaceChildren(...shown);
    find("new-checkout").hidden = status !== "unpaid" || shown.length > 0;
  }

  /** A session's address is shown once, so an invoice whose address is lost gets another session. */
  async #createCheckout() {
    const { api, checkouts } = this.#app;
    const id = this.#id;
    const button = find("new-checkout");
    if (button.ariaBusy === "true") return;
    button.ariaBusy = "true";
    try {
      const { checkout_url } = await api.post(`/invoices/${id}/checkout-sessions`);
      checkouts.set(id, checkout_url);
      this.draw();
      find("ready").querySelector("a")?.focus();
      announce("The checkout page is ready.");
    } catch (error) {
      this.#app.fail(api, error);
    } finally {
      button.ariaBusy = "false";
    }
  }

  async #read(signal) {
    const { api, invoices } = this.#app;
    const read = async () => {
      const { moment } = invoices;
      invoices.read(await api.get(`/invoices/${this.#id}`, {}, signal), moment);
    };
    await insist(signal, read);
    this.draw();
  }

  /** While payments are being confirmed, look how far they are. */
  #watch({ payments }) {
    clearTimeout(this.#timer);
    if (!payments.some(({ status }) => status === "pending")) return;
    const { api } = this.#app;
    const { signal } = this.#stop;
    this.#timer = setTimeout(async () => {
      try {
        if (!document.hidden) await this.#read(signal);
        else this.#watch({ payments });
      } catch (error) {
        if (!signal.aborted) this.#app.fail(api, error);
      }
    }, LOOK_MS);
  }
}

const LONG = new Set(["Deposit address", "Token", "Invoice"]);

/** A link to the list with these filters. */
const listLink = (filters) => ({ href: `${addressOf(INVOICES)}?${new URLSearchParams(filters)}` });

function factsOf(invoice, method) {
  const explore = (kind, id) => explorerLink(invoice.chain_id, kind, id);
  const amount = (name, atoms) => [name, atoms !== "0" && writeAmount(atoms, method)];
  const facts = [
    ["Order", copyable(invoice.external_order_id, "order", listLink({ search: invoice.external_order_id }))],
    ["Attempt", String(invoice.attempt_no)],
    amount("Confirmed", invoice.amount_paid),
    amount("Being confirmed", invoice.amount_pending),
    amount("Still to pay", invoice.amount_remaining),
    amount("Too much", invoice.amount_overpaid),
    ["Network", method ? `${method.chain_name} (${invoice.chain_id})` : String(invoice.chain_id)],
    ["Created", minuteOf(invoice.created_at)],
    ["To pay until", minuteOf(invoice.expires_at)],
    ["Paid", invoice.paid_at !== null && minuteOf(invoice.paid_at)],
    ["Canceled", invoice.canceled_at !== null && minuteOf(invoice.canceled_at)],
    ["Method", copyable(invoice.payment_method_id, "method", listLink({ method: invoice.payment_method_id }))],
    ["Deposit address", copyable(invoice.deposit_address, "deposit address", explore("address", invoice.deposit_address))],
    ["Token", copyable(invoice.token_address, "token", explore("token", invoice.token_address))],
    ["Invoice", copyable(invoice.id, "invoice")],
  ];
  const given = facts.filter(([, value]) => value !== false);
  return given.map(([name, value]) => h("div", { class: LONG.has(name) && "long" }, h("dt", {}, name), h("dd", {}, value)));
}

function rowOf(payment, { chain_id, confirmations_required }, method) {
  const { amount, confirmations, status, tx_hash, block_number, from, detected_at } = payment;
  const reached = Math.min(confirmations, confirmations_required);
  const count = status !== "orphaned" && `${reached} of ${confirmations_required} confirmations`;
  const cells = [
    ["Amount", h("strong", {}, writeAmount(amount, method))],
    ["State", badge(describePayment(payment)), h("p", { class: "muted" }, count)],
    ["Transaction", copyable(tx_hash, "transaction", explorerLink(chain_id, "tx", tx_hash)), h("p", { class: "muted" }, `in block ${block_number} from `, copyable(from, "sender", explorerLink(chain_id, "address", from)))],
    ["Seen", secondOf(detected_at)],
  ];
  return h("tr", {}, cells.map(([label, ...content]) => h("td", { "data-label": label }, ...content)));
}
