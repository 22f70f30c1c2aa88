// Signing in, users, their profile fields and settings, user groups, the organization.

import { only, read, same } from "../answers";
import { bad, cordelia, done, facts, hamlet, nobody, people, stranger, unknown } from "./stage";

export async function signIn(): Promise<void> {
  const server = await read(nobody.GET("/server_settings"));
  same([server.zulip_feature_level, server.realm_name], [478, "Acme"]);
  const { email, id, key } = people.hamlet;
  const byPassword = await read(
    nobody.POST("/fetch_api_key", { body: { username: email, password: facts.password } }),
  );
  same([byPassword.api_key, byPassword.user_id], [key, id]);
  const byName = await read(nobody.POST("/dev_fetch_api_key", { body: { username: email } }));
  same(byName.api_key, key);
  const byToken = await read(
    nobody.POST("/jwt/fetch_api_key", { body: { token: facts.jwt, include_profile: true } }),
  );
  same([byToken.api_key, byToken.user?.full_name], [key, "Hamlet"]);
  const wrong = { username: email, password: "wrong" };
  await bad(nobody.POST("/fetch_api_key", { body: wrong }), "AUTHENTICATION_FAILED", 401);
  await bad(nobody.POST("/jwt/fetch_api_key", { body: { token: "x" } }));
}

export async function users(): Promise<void> {
  const me = await read(hamlet.GET("/users/me"));
  same([me.user_id, me.full_name, me.role], [people.hamlet.id, "Hamlet", 400]);
  const { members } = await read(
    hamlet.GET("/users", { params: { query: { client_gravatar: true } } }),
  );
  same(only(members, (user) => user.user_id === people.othello.id).full_name, "Othello");
  const both = [people.hamlet.id, people.othello.id];
  const these = { user_ids: JSON.stringify(both) };
  const asked = await read(hamlet.GET("/users", { params: { query: these } }));
  same(
    asked.members.map((user) => user.user_id),
    both,
  );
  const byEmail = { email: people.othello.email };
  const found = await read(hamlet.GET("/users/{email}", { params: { path: byEmail } }));
  same(found.user.user_id, people.othello.id);
  const status = { status_text: "Reading", emoji_name: "book" };
  await done(hamlet.POST("/users/me/status", { body: status }));
  const hamlets = { user_id: people.hamlet.id };
  const told = await read(hamlet.GET("/users/{user_id}/status", { params: { path: hamlets } }));
  same([told.status.status_text, told.status.emoji_name], ["Reading", "book"]);
  const yorick = {
    email: "yorick@acme.example",
    password: "alas poor yorick!",
    full_name: "Yorick",
  };
  const made = await read(cordelia.POST("/users", { body: yorick }));
  const path = { user_id: made.user_id };
  const change = { full_name: "Poor Yorick", role: 300 as const };
  await done(cordelia.PATCH("/users/{user_id}", { params: { path }, body: change }));
  const changed = (await read(hamlet.GET("/users/{user_id}", { params: { path } }))).user;
  same([changed.full_name, changed.role, changed.bot_type], ["Poor Yorick", 300, null]);
  const leaving = { actions: { delete_profile: false, delete_direct_messages: true } };
  await done(cordelia.DELETE("/users/{user_id}", { params: { path }, body: leaving }));
  same((await read(hamlet.GET("/users/{user_id}", { params: { path } }))).user.is_active, false);
  await done(cordelia.POST("/users/{user_id}/reactivate", { params: { path } }));
  await unknown(stranger.GET("/users/me"));
  await bad(hamlet.GET("/users/{user_id}", { params: { path: { user_id: 999_999 } } }));
  await bad(hamlet.DELETE("/users/{user_id}", { params: { path } }));
}

export async function profileFields(): Promise<void> {
  const choices = { "0": { text: "Vim", order: "1" }, "1": { text: "Emacs", order: "2" } };
  const choice = { name: "Editor", field_type: 3, field_data: choices };
  const editor = await read(cordelia.POST("/realm/profile_fields", { body: choice }));
  const text = { name: "Title", field_type: 1, hint: "Prince?" };
  const title = await read(cordelia.POST("/realm/profile_fields", { body: text }));
  const path = { field_id: title.id };
  await done(
    cordelia.PATCH("/realm/profile_fields/{field_id}", {
      params: { path },
      body: { hint: "King?" },
    }),
  );
  const known = (await read(hamlet.GET("/realm/profile_fields"))).custom_fields;
  const order = [...new Set([title.id, editor.id, ...known.map((field) => field.id)])];
  await done(cordelia.PATCH("/realm/profile_fields", { body: { order } }));
  const [first, second] = (await read(hamlet.GET("/realm/profile_fields"))).custom_fields;
  same([first?.name, first?.hint, second?.name], ["Title", "King?", "Editor"]);
  const data = [{ id: title.id, value: "Prince" }];
  await done(hamlet.PATCH("/users/me/profile_data", { body: { data } }));
  const profile = (await read(hamlet.GET("/users/me"))).profile_data;
  same(profile?.[String(title.id)]?.value, "Prince");
  await done(hamlet.DELETE("/users/me/profile_data", { body: { data: [title.id] } }));
  await done(
    cordelia.DELETE("/realm/profile_fields/{field_id}", {
      params: { path: { field_id: editor.id } },
    }),
  );
  await unknown(stranger.GET("/realm/profile_fields"));
  await bad(
    cordelia.DELETE("/realm/profile_fields/{field_id}", {
      params: { path: { field_id: 999_999 } },
    }),
  );
}

export async function settings(): Promise<void> {
  const own = { twenty_four_hour_time: true, color_scheme: 2 as const };
  await done(hamlet.PATCH("/settings", { body: own }));
  const others = { enter_sends: true, target_users: { user_ids: [people.othello.id] } };
  await done(cordelia.PATCH("/settings", { body: others }));
  const path = { token: facts.email_change.token };
  const waiting = await read(
    nobody.GET("/accounts/confirm_new_email/{token}", { params: { path } }),
  );
  same(waiting.new_email, facts.email_change.new_email);
  const confirmed = await read(
    nobody.POST("/accounts/confirm_new_email/{token}", { params: { path } }),
  );
  same(confirmed.new_email, facts.email_change.new_email);
  await unknown(stranger.PATCH("/settings", { body: own }));
  const wrong = { old_password: "wrong", new_password: "a new one, long!" };
  await bad(hamlet.PATCH("/settings", { body: wrong }));
}

export async function realm(): Promise<void> {
  const members = [people.hamlet.id, people.othello.id];
  const players = { name: "players", description: "They play.", members };
  const made = await read(hamlet.POST("/user_groups/create", { body: players }));
  const { user_groups: groups } = await read(hamlet.GET("/user_groups"));
  const group = only(groups, (each) => each.id === made.group_id);
  same([group.name, group.is_system_group], ["players", false]);
  same(group.members, members);
  const rules = {
    can_delete_any_message_group: { new: made.group_id },
    message_content_delete_limit_seconds: "unlimited",
    message_edit_history_visibility_policy: "all" as const,
  };
  await done(cordelia.PATCH("/realm", { body: rules }));
  await unknown(stranger.PATCH("/realm", { body: {} }));
  await bad(hamlet.PATCH("/realm", { body: {} }), "UNAUTHORIZED_PRINCIPAL");
  await unknown(stranger.GET("/user_groups"));
  await bad(hamlet.POST("/user_groups/create", { body: players }));
}
