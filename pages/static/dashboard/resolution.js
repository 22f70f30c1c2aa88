// How the merchant closed the open invoice: what is stored, and the dialog that changes it.

import { open } from "../client/dialogs.js";
import { announce, find, h } from "../client/element.js";
import { insist } from "../client/patience.js";
import { secondOf } from "./times.js";
import { describeResolution } from "./wording.js";

export class Resolution {
  #app;
  #id = null;
  #dialog = find("resolution-dialog");
  #form = find("resolution-form");
  #refusal = find("resolution-refusal");

  constructor(app) {
    this.#app = app;
    find("resolve").addEventListener("click", () => this.#ask());
    this.#form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
  }

  /** Read how an invoice is closed: the invoice itself does not say. Raises what the API refuses. */
  async open(id, signal) {
    this.#id = id;
    const path = `/invoices/${id}/metadata`;
    const { resolution } = await insist(signal, () => this.#app.api.get(path, {}, signal));
    signal.throwIfAborted(); // another invoice is open
    this.#draw(resolution);
  }

  close() {
    this.#id = null;
    this.#draw(undefined);
    find("resolve").hidden = true;
    if (this.#dialog.open) this.#dialog.close();
  }

  /** An event shows the invoice with its resolution. */
  take({ resolution }) {
    this.#draw(resolution);
  }

  /** Offer the dialog for an invoice that can be closed. */
  offer(invoice) {
    find("resolve").hidden = !isResolvable(invoice);
  }

  #draw(resolution) {
    find("resolution").replaceChildren(...(resolution === undefined ? [] : wordsOf(resolution)));
  }

  #ask() {
    this.#form.reset();
    this.#refusal.textContent = "";
    open(this.#dialog);
    find("reason").focus();
  }

  async #submit() {
    if (this.#form.getAttribute("aria-busy") === "true") return;
    const hash = find("refund").value.trim();
    const body = { reason: find("reason").value, note: find("note").value, ...(hash === "" ? {} : { refund_tx_hash: hash }) };
    const { api } = this.#app;
    const id = this.#id;
    this.#refusal.textContent = "";
    this.#form.setAttribute("aria-busy", "true");
    try {
      const { resolution } = await api.post(`/invoices/${id}/resolution`, { body });
      if (this.#app.api !== api || this.#id !== id) return;
      this.#draw(resolution);
      this.#dialog.close();
      announce("The invoice was resolved.");
    } catch (error) {
      if (error.status === 401) this.#app.fail(api, error);
      else this.#refusal.textContent = error.message;
    } finally {
      this.#form.setAttribute("aria-busy", "false");
    }
  }
}

/** As the API has it: closed for good, and money has come. */
function isResolvable({ status, exception, expiry_final, amount_paid, amount_pending }) {
  const isClosed = status === "paid" || status === "canceled" || (status === "expired" && expiry_final);
  return isClosed && (amount_paid !== "0" || amount_pending !== "0" || exception === "reorged");
}

function wordsOf({ reason, note, resolved_at, refund_tx_hash }) {
  return [
    h("strong", {}, describeResolution(reason)),
    " ",
    secondOf(resolved_at),
    note !== "" && h("span", { class: "wrap" }, ` ${note}`),
    refund_tx_hash !== undefined && h("code", {}, ` ${refund_tx_hash}`),
  ].filter(Boolean);
}
