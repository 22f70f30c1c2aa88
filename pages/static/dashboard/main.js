// The dashboard: signs a project in, follows its events, and shows the place of the address.

import { announce, find, markCurrent } from "../client/element.js";
import { installCopying } from "./copying.js";
import { Creation } from "./creation.js";
import { EndpointView } from "./endpoints.js";
import { Feed } from "./feed.js";
import { InvoiceView } from "./invoice.js";
import { Invoices } from "./invoices.js";
import { List } from "./list.js";
import { addressOf, INVOICES, invoicePlace, placeAt, WEBHOOKS } from "./places.js";
import { messageOf, SignIn } from "./signin.js";
import { describeEvent } from "./wording.js";

class App {
  api = null;
  place = INVOICES;
  invoices = new Invoices();
  methods = new Map(); // by id
  checkouts = new Map(); // invoice's id -> address of a checkout page made here
  #feed = null;
  #hasBegun = false;
  #list = new List(this);
  #invoice = new InvoiceView(this);
  #endpoints = new EndpointView(this);
  #creation = new Creation(this);
  #signIn = new SignIn((...it) => this.#enter(...it));

  start() {
    addEventListener("offline", () => (find("offline").hidden = this.api === null));
    // A poll that has outlived the loss answers after 30 s: too late to take the notice back.
    addEventListener("online", () => (find("offline").hidden = true));
    installCopying();
    addEventListener("hashchange", () => this.#follow());
    // The key goes with the page: one that the browser kept for its back button begins anew.
    addEventListener("pagehide", () => this.#feed?.stop());
    addEventListener("pageshow", (event) => event.persisted && location.reload());
    find("sign-out").addEventListener("click", () => this.#leave());
    this.#signIn.open();
  }

  /** A request with this `api` was refused: show why, until the next step. */
  fail(api, error) {
    if (this.api !== api) return;
    if (error.status === 401) return this.#leave(messageOf(error));
    if (error.status === undefined) console.error(error);
    find("trouble").textContent = error.message;
    find("trouble").hidden = false;
  }

  /** The place does not exist: show all invoices instead. */
  goBack() {
    history.replaceState(null, "", this.#list.address);
    this.#follow();
  }

  /** Read the payment methods. Raises what the API refuses. */
  async learnMethods() {
    const { api } = this;
    const { methods } = await api.get("/payment-methods");
    if (this.api === api) this.#learn(methods);
  }

  /** An invoice was created here: show it. */
  welcome(invoice, checkoutUrl) {
    this.invoices.read(invoice, 0); // unless its event came first
    this.checkouts.set(invoice.id, checkoutUrl);
    this.#list.draw();
    location.hash = addressOf(invoicePlace(invoice.id));
  }

  #learn(methods) {
    this.methods = new Map(methods.map((method) => [method.id, method]));
    this.#list.filter.offer(methods);
  }

  #enter(api, methods, { scope, project_name }) {
    this.api = api;
    find("dashboard").toggleAttribute("data-read-only", scope !== "write");
    find("read-only").hidden = scope === "write";
    find("project").textContent = project_name;
    this.#learn(methods);
    this.#feed = new Feed(api, {
      begun: () => this.#begin(),
      events: (events) => this.#apply(events),
      trouble: (failures) => (find("offline").hidden = failures < 2),
      refused: (error) => this.#leave(messageOf(error)),
    });
    this.#hasBegun = false;
    find("dashboard").hidden = false;
    this.#feed.run();
  }

  /** The feed tells of all that comes from now on: read what there is. */
  #begin() {
    this.invoices = new Invoices();
    if (placeAt(location.hash).view === "invoices" && placeAt(location.hash).invoiceId === null) this.#list.follow(location.hash);
    this.#list.load();
    if (this.#hasBegun) this.#invoice.load();
    this.#hasBegun = true;
    this.#follow();
  }

  #leave(text = "") {
    this.#feed?.stop();
    this.api = this.#feed = null;
    this.place = INVOICES;
    this.invoices = new Invoices();
    this.methods = new Map();
    this.checkouts = new Map();
    find("project").textContent = "";
    this.#invoice.close();
    this.#endpoints.close();
    this.#list.forget();
    this.#creation.forget();
    for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
    for (const id of ["dashboard", "offline", "trouble"]) find(id).hidden = true;
    announce("");
    history.replaceState(null, "", location.pathname);
    document.title = "Dashboard";
    this.#signIn.open(text);
  }

  #apply(events) {
    if (events.length === 0) return;
    for (const event of events) {
      const { invoice } = event.data;
      if (invoice !== undefined) this.invoices.tell(invoice);
      this.#invoice.apply(event);
      this.#endpoints.apply(event);
    }
    this.#list.draw();
    this.#tell(events.at(-1));
    if (events.some(({ data }) => data.invoice && !this.methods.has(data.invoice.payment_method_id))) this.#relearn();
  }

  #tell({ type, data }) {
    const name = data.invoice?.external_order_id ?? data.webhook_endpoint?.url ?? "";
    announce(`${name}: ${describeEvent(type).words}`);
  }

  /** Show the invoice of an event, or the webhooks if the event is of an endpoint. */
  async #followEvent(id) {
    const { api, place } = this;
    try {
      const { data } = await api.get(`/events/${id}`);
      if (this.api !== api || this.place !== place) return;
      history.replaceState(null, "", addressOf(data.invoice ? invoicePlace(data.invoice.id) : WEBHOOKS));
      this.#follow();
    } catch (error) {
      if (this.api !== api || this.place !== place) return;
      this.goBack();
      this.fail(api, error);
    }
  }

  /** A method that is new: what the amounts of its invoices mean. */
  async #relearn() {
    const { api } = this;
    try {
      await this.learnMethods();
      if (this.api !== api) return;
      this.#list.redraw();
      this.#invoice.draw();
    } catch (error) {
      this.fail(api, error);
    }
  }

  /** Show the place that the address names. */
  #follow() {
    if (this.api === null || !this.#hasBegun) return;
    const before = this.place;
    this.place = placeAt(location.hash);
    const { view, invoiceId, eventId } = this.place;
    if (eventId !== undefined) return this.#followEvent(eventId);
    find("trouble").hidden = true;
    find("dashboard").dataset.view = view;
    find("dashboard").toggleAttribute("data-open", invoiceId !== null);
    find("ledger").hidden = view !== "invoices";
    for (const name of ["invoices", "webhooks"]) markCurrent(find(`to-${name}`), name === view);
    if (view !== "webhooks") this.#endpoints.close();
    if (invoiceId === null) this.#invoice.close();
    if (view === "invoices" && invoiceId === null) this.#list.follow(location.hash);
    this.#list.draw();
    if (invoiceId !== null) this.#list.reveal(invoiceId);
    if (view === "webhooks") return this.#endpoints.open();
    if (invoiceId !== null) return this.#invoice.open(invoiceId);
    document.title = "Invoices · Dashboard";
    if (before.invoiceId !== null) this.#list.focus(before.invoiceId);
    else find("ledger-title").focus();
  }
}

new App().start();
