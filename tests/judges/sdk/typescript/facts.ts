// What a drive has to know of its server: the file that `tests/judges/sdk/stage.py` writes.

import { readFileSync } from "node:fs";

export interface PaymentFacts {
  base_url: string;
  key: string;
  peer_key: string;
  payment_method_id: string;
  chain_id: number;
  token_symbol: string;
}

export interface Person {
  id: number;
  email: string;
  name: string;
  key: string;
}

export interface ChatFacts {
  base_url: string;
  people: Record<"cordelia" | "iago" | "hamlet" | "othello" | "polonius" | "reminder", Person>;
  password: string;
  jwt: string;
  email_change: { token: string; new_email: string };
  push: {
    push_key: string;
    push_key_id: number;
    token_kind: "fcm" | "apns";
    token_id: string;
    bouncer_public_key: string;
    encrypted_push_registration: string;
  };
  vendor: { code: string; state: string; cookie: string };
  vendor_notice: { authorization: string; user_id: string };
  finished_export_id: number;
}

export function readFacts<Facts>(): Facts {
  return JSON.parse(readFileSync(process.env.SPECD_SDK_STAGE ?? "", "utf8")) as Facts;
}
