// Every operation of the chat document, by openapi-fetch with the types of openapi-typescript.

import { read, same } from "../answers";
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
  await done(othello.DELETE("/users/me"));
  same((await read(hamlet.POST("/users/me/api_key/regenerate"))).api_key.length, 32);
  await unknown(hamlet.GET("/users/me"));
}

main();
