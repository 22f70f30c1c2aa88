// Places of the page: the invoices with one of them open or none (`invoiceId` null), the webhooks.

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const EVENT = /^evt_[0-7][0-9a-f]{15}$/;

export const INVOICES = { view: "invoices", invoiceId: null };
export const WEBHOOKS = { view: "webhooks", invoiceId: null };

export const invoicePlace = (invoiceId) => ({ view: "invoices", invoiceId });

/** The invoice of an event, which the page looks up. */
export const eventPlace = (eventId) => ({ view: "invoices", invoiceId: null, eventId });

export function addressOf({ view, invoiceId, eventId }) {
  if (eventId !== undefined) return `#event/${eventId}`;
  return invoiceId === null ? `#${view}` : `#invoice/${invoiceId}`;
}

/** The place of an address; the invoices where it names none. */
export function placeAt(address) {
  const [kind, id] = address.slice(1).split("?")[0].split("/");
  if (kind === "invoice" && UUID.test(id ?? "")) return invoicePlace(id);
  if (kind === "event" && EVENT.test(id ?? "")) return eventPlace(id);
  return kind === "webhooks" ? WEBHOOKS : INVOICES;
}
