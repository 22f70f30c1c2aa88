// Every operation of the chat document, by openapi-generator's typescript-fetch SDK.

import * as sdk from "../../../../build/sdk/chat/typescript-fetch";
import { same } from "../answers";
import { channels, folders, messages } from "./chat_channels";
import { profileFields, realm, settings, signIn, users } from "./chat_people";
import * as rest from "./chat_rest";
import { done, hamlet, othello, unknown } from "./stage";

async function main(): Promise<void> {
  await signIn();
  await users();
  await profileFields();
  await settings();
  await realm();
  await folders();
  await messages(await channels());
  await rest.scheduledMessages();
  await rest.mobilePush();
  await rest.calls();
  await rest.linkifiers();
  await rest.playgrounds();
  await rest.domains();
  await rest.dataExports();
  await done(new sdk.UsersApi(othello).deactivateOwnUser());
  same((await new sdk.UsersApi(hamlet).regenerateOwnApiKey()).apiKey.length, 32);
  await unknown(new sdk.UsersApi(hamlet).getOwnUser());
}

main();
