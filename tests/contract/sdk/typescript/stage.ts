// The facts about the server of a drive, from the file that `tests/contract/sdk/stage.py` writes.

import { readFileSync } from "node:fs";

/** Who calls: by Basic, by a bearer's token or without either. */
export interface Caller {
  username?: string;
  password?: string;
  token?: string;
  headers?: Record<string, string>;
}

/** What every stage tells. */
export interface Stage {
  base_url: string;
  callers: Record<string, Caller>;
}

export function readFacts<Facts>(): Facts & Stage {
  return JSON.parse(readFileSync(process.env.SPECD_SDK_STAGE ?? "", "utf8")) as Facts & Stage;
}
