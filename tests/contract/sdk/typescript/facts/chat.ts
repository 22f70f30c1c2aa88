interface Person {
  id: number;
  email: string;
  name: string;
  key: string;
}

/** The facts of `tests/contract/sdk/chat_stage.py`. */
export interface Facts {
  people: Record<"cordelia" | "iago" | "hamlet" | "othello" | "polonius" | "reminder", Person>;
  jwt: string;
  email_change: { token: string; new_email: string };
  invitation: { token: string; email: string };
  push: {
    push_key: string;
    push_key_id: number;
    token_kind: "fcm" | "apns";
    token_id: string;
    bouncer_public_key: string;
    encrypted_push_registration: string;
  };
  vendor: { code: string; state: string };
  finished_export_id: number;
  upload: { id: number; realm: string; filename: string };
  in_an_hour: number;
  queue: string;
}
