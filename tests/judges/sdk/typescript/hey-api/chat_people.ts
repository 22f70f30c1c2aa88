// Signing in, users, their profile fields and settings, user groups, the organization.

import * as sdk from "../../../../build/sdk/chat/hey-api";
import { only, read, same } from "../answers";
import { bad, cordelia, done, facts, hamlet, nobody, people, stranger, unknown } from "./stage";

export async function signIn(): Promise<void> {
  const server = await read(sdk.getServerSettings({ client: nobody }));
  same([server.zulip_feature_level, server.realm_name], [478, "Acme"]);
  const { email, id, key } = people.hamlet;
  const byPassword = await read(
    sdk.fetchApiKey({ client: nobody, body: { username: email, password: facts.password } }),
  );
  same([byPassword.api_key, byPassword.user_id], [key, id]);
  const byName = await read(sdk.devFetchApiKey({ client: nobody, body: { username: email } }));
  same(byName.api_key, key);
  const byToken = await read(
    sdk.jwtFetchApiKey({ client: nobody, body: { token: facts.jwt, include_profile: true } }),
  );
  same([byToken.api_key, byToken.user?.full_name], [key, "Hamlet"]);
  const wrong = { username: email, password: "wrong" };
  await bad(sdk.fetchApiKey({ client: nobody, body: wrong }), "AUTHENTICATION_FAILED", 401);
  await bad(sdk.jwtFetchApiKey({ client: nobody, body: { token: "x" } }));
}

export async function users(): Promise<void> {
  const me = await read(sdk.getOwnUser({ client: hamlet }));
  same([me.user_id, me.full_name, me.role], [people.hamlet.id, "Hamlet", 400]);
  const { members } = await read(
    sdk.listUsers({ client: hamlet, query: { client_gravatar: true } }),
  );
  same(only(members, (user) => user.user_id === people.othello.id).full_name, "Othello");
  const both = [people.hamlet.id, people.othello.id];
  const asked = await read(sdk.listUsers({ client: hamlet, query: { user_ids: both } }));
  same(
    asked.members.map((user) => user.user_id),
    both,
  );
  const byEmail = { email: people.othello.email };
  const found = await read(sdk.getUserByEmail({ client: hamlet, path: byEmail }));
  same(found.user.user_id, people.othello.id);
  const status = { status_text: "Reading", emoji_name: "book" };
  await done(sdk.updateOwnStatus({ client: hamlet, body: status }));
  const hamlets = { user_id: people.hamlet.id };
  const told = await read(sdk.getUserStatus({ client: hamlet, path: hamlets }));
  same([told.status.status_text, told.status.emoji_name], ["Reading", "book"]);
  const yorick = {
    email: "yorick@acme.example",
    password: "alas poor yorick!",
    full_name: "Yorick",
  };
  const made = await read(sdk.createUser({ client: cordelia, body: yorick }));
  const path = { user_id: made.user_id };
  const change = { full_name: "Poor Yorick", role: 300 as const };
  await done(sdk.updateUser({ client: cordelia, path, body: change }));
  const changed = (await read(sdk.getUser({ client: hamlet, path }))).user;
  same([changed.full_name, changed.role, changed.bot_type], ["Poor Yorick", 300, null]);
  const leaving = { actions: { delete_profile: false, delete_direct_messages: true } };
  await done(sdk.deactivateUser({ client: cordelia, path, body: leaving }));
  same((await read(sdk.getUser({ client: hamlet, path }))).user.is_active, false);
  await done(sdk.reactivateUser({ client: cordelia, path }));
  await unknown(sdk.getOwnUser({ client: stranger }));
  await bad(sdk.getUser({ client: hamlet, path: { user_id: 999_999 } }));
  await bad(sdk.deactivateUser({ client: hamlet, path }));
}

export async function profileFields(): Promise<void> {
  const choices = { "0": { text: "Vim", order: "1" }, "1": { text: "Emacs", order: "2" } };
  const choice = { name: "Editor", field_type: 3, field_data: choices };
  const editor = await read(sdk.createProfileField({ client: cordelia, body: choice }));
  const text = { name: "Title", field_type: 1, hint: "Prince?" };
  const title = await read(sdk.createProfileField({ client: cordelia, body: text }));
  const path = { field_id: title.id };
  await done(sdk.updateProfileField({ client: cordelia, path, body: { hint: "King?" } }));
  const known = (await read(sdk.listProfileFields({ client: hamlet }))).custom_fields;
  const order = [...new Set([title.id, editor.id, ...known.map((field) => field.id)])];
  await done(sdk.reorderProfileFields({ client: cordelia, body: { order } }));
  const [first, second] = (await read(sdk.listProfileFields({ client: hamlet }))).custom_fields;
  same([first?.name, first?.hint, second?.name], ["Title", "King?", "Editor"]);
  const data = [{ id: title.id, value: "Prince" }];
  await done(sdk.updateOwnProfileData({ client: hamlet, body: { data } }));
  const profile = (await read(sdk.getOwnUser({ client: hamlet }))).profile_data;
  same(profile?.[String(title.id)]?.value, "Prince");
  await done(sdk.clearOwnProfileData({ client: hamlet, body: { data: [title.id] } }));
  await done(sdk.deleteProfileField({ client: cordelia, path: { field_id: editor.id } }));
  await unknown(sdk.listProfileFields({ client: stranger }));
  await bad(sdk.deleteProfileField({ client: cordelia, path: { field_id: 999_999 } }));
}

export async function settings(): Promise<void> {
  const own = { twenty_four_hour_time: true, color_scheme: 2 as const };
  await done(sdk.updateSettings({ client: hamlet, body: own }));
  const others = { enter_sends: true, target_users: { user_ids: [people.othello.id] } };
  await done(sdk.updateSettings({ client: cordelia, body: others }));
  const path = { token: facts.email_change.token };
  const waiting = await read(sdk.getEmailConfirmation({ client: nobody, path }));
  same(waiting.new_email, facts.email_change.new_email);
  const confirmed = await read(sdk.confirmNewEmail({ client: nobody, path }));
  same(confirmed.new_email, facts.email_change.new_email);
  await unknown(sdk.updateSettings({ client: stranger, body: own }));
  const wrong = { old_password: "wrong", new_password: "a new one, long!" };
  await bad(sdk.updateSettings({ client: hamlet, body: wrong }));
}

export async function realm(): Promise<void> {
  const members = [people.hamlet.id, people.othello.id];
  const players = { name: "players", description: "They play.", members };
  const made = await read(sdk.createUserGroup({ client: hamlet, body: players }));
  const { user_groups: groups } = await read(sdk.listUserGroups({ client: hamlet }));
  const group = only(groups, (each) => each.id === made.group_id);
  same([group.name, group.is_system_group], ["players", false]);
  same(group.members, members);
  const rules = {
    can_delete_any_message_group: { new: made.group_id },
    message_content_delete_limit_seconds: "unlimited",
    message_edit_history_visibility_policy: "all" as const,
  };
  await done(sdk.updateRealm({ client: cordelia, body: rules }));
  await unknown(sdk.updateRealm({ client: stranger, body: {} }));
  await bad(sdk.updateRealm({ client: hamlet, body: {} }), "UNAUTHORIZED_PRINCIPAL");
  await unknown(sdk.listUserGroups({ client: stranger }));
  await bad(sdk.createUserGroup({ client: hamlet, body: players }));
}
