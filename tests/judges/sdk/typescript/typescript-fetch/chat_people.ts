// Signing in, users, their profile fields and settings, user groups, the organization.

import * as sdk from "../../../../build/sdk/chat/typescript-fetch";
import { only, same } from "../answers";
import { asking, bad, cordelia, done, facts, hamlet, nobody, people, stranger, unknown } from "./stage";

export async function signIn(): Promise<void> {
  const server = await new sdk.ServerSettingsApi(nobody).getServerSettings();
  same([server.zulipFeatureLevel, server.realmName], [478, "Acme"]);
  const { email, id, key } = people.hamlet;
  const byPassword = await new sdk.SignInApi(nobody).fetchApiKey({
    fetchApiKeyParameters: { username: email, password: facts.password },
  });
  same([byPassword.apiKey, byPassword.userId], [key, id]);
  const byName = await new sdk.SignInApi(nobody).devFetchApiKey({
    devFetchApiKeyParameters: { username: email },
  });
  same(byName.apiKey, key);
  const byToken = await new sdk.SignInApi(nobody).jwtFetchApiKey({
    jwtFetchApiKeyParameters: { token: facts.jwt, includeProfile: true },
  });
  same([byToken.apiKey, byToken.user?.fullName], [key, "Hamlet"]);
  const wrong = { username: email, password: "wrong" };
  await bad(
    new sdk.SignInApi(nobody).fetchApiKey({ fetchApiKeyParameters: wrong }),
    "AUTHENTICATION_FAILED",
    401,
  );
  await bad(new sdk.SignInApi(nobody).jwtFetchApiKey({ jwtFetchApiKeyParameters: { token: "x" } }));
}

export async function users(): Promise<void> {
  const me = await new sdk.UsersApi(hamlet).getOwnUser();
  same([me.userId, me.fullName, me.role], [people.hamlet.id, "Hamlet", 400]);
  const { members } = await new sdk.UsersApi(hamlet).listUsers({ clientGravatar: true });
  same(only(members, (user) => user.userId === people.othello.id).fullName, "Othello");
  const both = [people.hamlet.id, people.othello.id];
  const asked = await new sdk.UsersApi(hamlet)
    .withPreMiddleware(asking({ user_ids: both }))
    .listUsers();
  same(
    asked.members.map((user) => user.userId),
    both,
  );
  const byEmail = { email: people.othello.email };
  const found = await new sdk.UsersApi(hamlet).getUserByEmail(byEmail);
  same(found.user.userId, people.othello.id);
  const status = { statusText: "Reading", emojiName: "book" };
  await done(new sdk.UsersApi(hamlet).updateOwnStatus({ updateOwnStatusParameters: status }));
  const hamlets = { userId: people.hamlet.id };
  const told = await new sdk.UsersApi(hamlet).getUserStatus(hamlets);
  same([told.status.statusText, told.status.emojiName], ["Reading", "book"]);
  const yorick = {
    email: "yorick@acme.example",
    password: "alas poor yorick!",
    fullName: "Yorick",
  };
  const made = await new sdk.UsersApi(cordelia).createUser({ createUserParameters: yorick });
  const path = { userId: made.userId };
  const change = { fullName: "Poor Yorick", role: 300 as const };
  await done(new sdk.UsersApi(cordelia).updateUser({ ...path, updateUserParameters: change }));
  const changed = (await new sdk.UsersApi(hamlet).getUser(path)).user;
  same([changed.fullName, changed.role, changed.botType], ["Poor Yorick", 300, null]);
  const leaving = { actions: { deleteProfile: false, deleteDirectMessages: true } };
  await done(
    new sdk.UsersApi(cordelia).deactivateUser({ ...path, deactivateUserParameters: leaving }),
  );
  same((await new sdk.UsersApi(hamlet).getUser(path)).user.isActive, false);
  await done(new sdk.UsersApi(cordelia).reactivateUser(path));
  await unknown(new sdk.UsersApi(stranger).getOwnUser());
  await bad(new sdk.UsersApi(hamlet).getUser({ userId: 999999 }));
  await bad(new sdk.UsersApi(hamlet).deactivateUser(path));
}

export async function profileFields(): Promise<void> {
  const choices = { "0": { text: "Vim", order: "1" }, "1": { text: "Emacs", order: "2" } };
  const choice = { name: "Editor", fieldType: 3, fieldData: choices };
  const editor = await new sdk.ProfileFieldsApi(cordelia).createProfileField({
    createProfileFieldParameters: choice,
  });
  const text = { name: "Title", fieldType: 1, hint: "Prince?" };
  const title = await new sdk.ProfileFieldsApi(cordelia).createProfileField({
    createProfileFieldParameters: text,
  });
  const path = { fieldId: title.id };
  await done(
    new sdk.ProfileFieldsApi(cordelia).updateProfileField({
      ...path,
      updateProfileFieldParameters: { hint: "King?" },
    }),
  );
  const known = (await new sdk.ProfileFieldsApi(hamlet).listProfileFields()).customFields;
  const order = [...new Set([title.id, editor.id, ...known.map((field) => field.id)])];
  await done(
    new sdk.ProfileFieldsApi(cordelia).reorderProfileFields({
      reorderProfileFieldsParameters: { order },
    }),
  );
  const [first, second] = (await new sdk.ProfileFieldsApi(hamlet).listProfileFields()).customFields;
  same([first?.name, first?.hint, second?.name], ["Title", "King?", "Editor"]);
  const data = [{ id: title.id, value: "Prince" }];
  await done(
    new sdk.UsersApi(hamlet).updateOwnProfileData({ updateOwnProfileDataParameters: { data } }),
  );
  const profile = (await new sdk.UsersApi(hamlet).getOwnUser()).profileData;
  same(profile?.[String(title.id)]?.value, "Prince");
  await done(
    new sdk.UsersApi(hamlet).clearOwnProfileData({
      clearOwnProfileDataParameters: { data: [title.id] },
    }),
  );
  await done(new sdk.ProfileFieldsApi(cordelia).deleteProfileField({ fieldId: editor.id }));
  await unknown(new sdk.ProfileFieldsApi(stranger).listProfileFields());
  await bad(new sdk.ProfileFieldsApi(cordelia).deleteProfileField({ fieldId: 999999 }));
}

export async function settings(): Promise<void> {
  const own = { twentyFourHourTime: true, colorScheme: 2 as const };
  await done(new sdk.SettingsApi(hamlet).updateSettings({ updateSettingsParameters: own }));
  const others = { enterSends: true, targetUsers: { userIds: [people.othello.id] } };
  await done(new sdk.SettingsApi(cordelia).updateSettings({ updateSettingsParameters: others }));
  const path = { token: facts.email_change.token };
  const waiting = await new sdk.SettingsApi(nobody).getEmailConfirmation(path);
  same(waiting.newEmail, facts.email_change.new_email);
  const confirmed = await new sdk.SettingsApi(nobody).confirmNewEmail(path);
  same(confirmed.newEmail, facts.email_change.new_email);
  await unknown(new sdk.SettingsApi(stranger).updateSettings({ updateSettingsParameters: own }));
  const wrong = { oldPassword: "wrong", newPassword: "a new one, long!" };
  await bad(new sdk.SettingsApi(hamlet).updateSettings({ updateSettingsParameters: wrong }));
}

export async function realm(): Promise<void> {
  const members = [people.hamlet.id, people.othello.id];
  const players = { name: "players", description: "They play.", members };
  const made = await new sdk.UserGroupsApi(hamlet).createUserGroup({
    createUserGroupParameters: players,
  });
  const { userGroups: groups } = await new sdk.UserGroupsApi(hamlet).listUserGroups();
  const group = only(groups, (each) => each.id === made.groupId);
  same([group.name, group.isSystemGroup], ["players", false]);
  same(group.members, members);
  const rules = {
    canDeleteAnyMessageGroup: { _new: made.groupId },
    messageContentDeleteLimitSeconds: "unlimited",
    messageEditHistoryVisibilityPolicy: "all" as const,
  };
  await done(new sdk.RealmApi(cordelia).updateRealm({ updateRealmParameters: rules }));
  await unknown(new sdk.RealmApi(stranger).updateRealm({ updateRealmParameters: {} }));
  await bad(
    new sdk.RealmApi(hamlet).updateRealm({ updateRealmParameters: {} }),
    "UNAUTHORIZED_PRINCIPAL",
  );
  await unknown(new sdk.UserGroupsApi(stranger).listUserGroups());
  await bad(new sdk.UserGroupsApi(hamlet).createUserGroup({ createUserGroupParameters: players }));
}
