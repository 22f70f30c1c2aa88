// The texts for each state and event, with the tone that determines the icon and the color.

// `${status} ${exception}` -> [tone, words, what to do]
const STATES = {
  "unpaid none": ["waiting", "Unpaid", "The shopper has not paid yet."],
  "unpaid partial": ["warning", "Partly paid", "Less than the amount has arrived. The rest can still be paid."],
  "unpaid late": ["warning", "Paid late", "The chain dates a payment after the payment window. Settle it with the shopper."],
  "unpaid reorged": ["warning", "Payment dropped", "The chain dropped a payment that was detected before. It often returns without any action."],
  "processing none": ["working", "Processing", "The amount has arrived and is being confirmed. Do not fulfill the order yet."],
  "processing reorged": ["working", "Processing again", "The chain was reorganized, so the payment is being confirmed again. Do not fulfill the order yet."],
  "paid none": ["done", "Paid", "The amount is confirmed. Fulfill the order."],
  "paid over": ["warning", "Overpaid", "The amount is confirmed, and more has arrived. Fulfill the order, and return the difference to the shopper."],
  "expired none": ["stopped", "Expired", "The payment window has closed. To try again, create an invoice with the next attempt number."],
  "expired partial": ["warning", "Expired, partly paid", "Only a part arrived in time. Settle it with the shopper."],
  "expired late": ["warning", "Expired, paid late", "A payment arrived after the payment window had closed. Settle it with the shopper."],
  "expired reorged": ["warning", "Expired, payment dropped", "The chain dropped the payment, and the payment window has closed."],
  "canceled none": ["stopped", "Canceled", "You canceled this invoice."],
  "canceled late": ["warning", "Canceled, paid late", "A payment arrived after you had canceled the invoice. Settle it with the shopper."],
};

const EVENTS = {
  "invoice.created": ["waiting", "Created"],
  "invoice.payment_received": ["working", "Payment received"],
  "invoice.payment_reorged": ["warning", "A payment was dropped by the chain"],
  "invoice.partially_paid": ["warning", "Partly paid"],
  "invoice.processing": ["working", "Processing"],
  "invoice.paid": ["done", "Paid"],
  "invoice.overpaid": ["done", "Overpaid"],
  "invoice.expired": ["stopped", "Expired"],
  "invoice.canceled": ["stopped", "Canceled"],
  "invoice.paid_late": ["warning", "Paid late"],
  "invoice.reorged": ["warning", "Reverted by the chain"],
  "invoice.resolved": ["done", "Resolved"],
  "webhook_endpoint.disabled": ["warning", "Webhook endpoint disabled"],
};

const PAYMENTS = {
  pending: ["working", "Being confirmed"],
  confirmed: ["done", "Confirmed"],
  orphaned: ["warning", "Dropped by the chain"],
};

const FAILURES = {
  timeout: "No response in time",
  cannot_connect: "Cannot connect",
  connection_broken: "Connection broken",
  name_not_resolved: "Name not found",
  address_refused: "Address is not public",
};

/** Names that the API adds later are shown unchanged. */
const worded = (known, name) => {
  const [tone, words, text = ""] = known ?? ["stopped", name];
  return { tone, words, text };
};

export function describe({ status, exception }) {
  return worded(STATES[`${status} ${exception}`], status);
}

const RESOLUTIONS = {
  refunded: "Refunded",
  accepted: "Accepted for the order",
  written_off: "Written off",
};

export const describeResolution = (reason) => RESOLUTIONS[reason] ?? reason;

export const describeEvent = (type) => worded(EVENTS[type], type);

export function describePayment({ status, late }) {
  const { tone, words } = worded(PAYMENTS[status], status);
  return late ? { tone: "warning", words: `${words}, late` } : { tone, words };
}

export function describeAttempt({ taken, status_code, failure }) {
  if (taken) return { tone: "done", words: `Delivered (${status_code})` };
  if (status_code !== null) return { tone: "warning", words: `Refused (${status_code})` };
  return { tone: "warning", words: FAILURES[failure] ?? failure };
}

export function describeEndpoint({ status, disabled_reason }) {
  if (status === "enabled") return { tone: "done", words: "Enabled" };
  if (disabled_reason === "gone") return { tone: "stopped", words: "Disabled: the receiver is gone (410)" };
  if (disabled_reason === "failing") return { tone: "warning", words: "Disabled: no successful delivery in five days" };
  return { tone: "stopped", words: "Disabled" };
}
