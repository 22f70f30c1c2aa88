import { h } from "../client/element.js";

// Amounts: decimal texts of a token for people, whole atomic units in the API. No number is a float.

const AMOUNT = /^(0|[1-9][0-9]{0,71})(?:\.([0-9]+))?$/;
const MOST_ATOMS = 2n ** 256n - 1n;
const MOST_DECIMALS = 6; // that the API takes

/** Atomic units as a decimal text without trailing zeros: "1500000" of 6 decimals is "1.5". */
export function writeUnits(atoms, decimals) {
  const scale = 10n ** BigInt(decimals);
  const whole = BigInt(atoms) / scale;
  const fraction = String(BigInt(atoms) % scale).padStart(decimals, "0").replace(/0+$/, "");
  return decimals === 0 || fraction === "" ? String(whole) : `${whole}.${fraction}`;
}

/** The atomic units of a decimal text, as a BigInt. Raises Error with what is wrong. */
export function readUnits(text, decimals) {
  const most = Math.min(decimals, MOST_DECIMALS);
  const [, whole, fraction = ""] = AMOUNT.exec(text) ?? [];
  if (whole === undefined) throw new Error("Write an amount such as 12.5, with a point and without separators.");
  if (fraction.length > most) throw new Error(`The amount can have at most ${most} decimals.`);
  const atoms = BigInt(whole + fraction.padEnd(decimals, "0"));
  if (atoms === 0n) throw new Error("The amount must be more than zero.");
  if (atoms > MOST_ATOMS) throw new Error("The amount is too large for the token.");
  return atoms;
}

/** Atomic units as people read them: `12.5 TUSD`; as they are where the payment method is unknown. */
export function writeAmount(atoms, method) {
  if (method === undefined) return `${atoms} atomic units`;
  return `${group(writeUnits(atoms, method.decimals))} ${method.token_symbol}`;
}

/** A decimal text with its whole part in groups of three digits, if it has more than four. */
function group(text) {
  const [whole, ...fraction] = text.split(".");
  const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u202f") : whole;
  return [grouped, ...fraction].join(".");
}

/** An amount for a column of amounts, which are aligned at the point. */
export function alignedAmount(atoms, method) {
  const [, whole, behind] = /^([^. ]*)(.*)$/s.exec(writeAmount(atoms, method));
  return h("span", {}, whole, h("span", { class: "behind" }, behind));
}
