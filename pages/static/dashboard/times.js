// Times of invoices and events: local ones to read, with UTC beside.

import { h } from "../client/element.js";
import { writeIso, writeShort } from "../client/times.js";

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** `2026-11-22 15:04:05 UTC` */
const writeUtc = (ms) => `${writeIso(ms).slice(0, 19).replace("T", " ")} UTC`;

const stamp = (ms, text) => h("time", { datetime: writeIso(ms), title: writeUtc(ms) }, text);

/** To the minute. */
export const minuteOf = (ms) => stamp(ms, writeShort(ms));

/** To the second. */
export const secondOf = (ms) => stamp(ms, EXACT.format(new Date(ms)));

/** The beginning of the local day of a date field; `later` counts days on. */
export function dayOf(value, later = 0) {
  const [year, month, day] = value.split("-").map(Number);
  return new Date(year, month - 1, day + later).getTime();
}
