// The little of Node.js that drives need; the SDKs themselves are checked with what browsers have.

declare const process: { env: Record<string, string | undefined> };

declare module "node:fs" {
  export function readFileSync(path: string, encoding: "utf8"): string;
}

declare module "node:assert/strict" {
  export function deepStrictEqual(actual: unknown, expected: unknown): void;
  export function ok(value: unknown, message?: string): asserts value;
}
