// The parts of Node.js that drives need. The SDKs are checked with the types of browsers.

declare const process: { env: Record<string, string | undefined> };

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}

declare module "node:assert/strict" {
  export function deepStrictEqual(actual: unknown, expected: unknown): void;
  export function ok(value: unknown, message?: string): asserts value;
}
