// What goes out at its time or to somebody else: scheduled messages, push, calls, exports; rules of
// the organization: linkifiers, playgrounds, domains.

import * as sdk from "../../../../build/sdk/chat/typescript-fetch";
import { only, same } from "../answers";
import {
  adding,
  bad,
  cordelia,
  done,
  facts,
  hamlet,
  nobody,
  people,
  stranger,
  unknown,
} from "./stage";

export async function scheduledMessages(): Promise<void> {
  const later = Math.floor(Date.now() / 1000) + 3600;
  const to = [people.othello.id];
  const body = {
    type: "direct" as const,
    to,
    content: "Remember me.",
    scheduledDeliveryTimestamp: later,
  };
  const made = await new sdk.ScheduledMessagesApi(hamlet).createScheduledMessage({
    createScheduledMessageParameters: body,
  });
  const path = { scheduledMessageId: made.scheduledMessageId };
  const change = { content: "Adieu, adieu." };
  await done(
    new sdk.ScheduledMessagesApi(hamlet).updateScheduledMessage({
      ...path,
      updateScheduledMessageParameters: change,
    }),
  );
  const listed = (await new sdk.ScheduledMessagesApi(hamlet).listScheduledMessages())
    .scheduledMessages;
  const waiting = only(listed, (each) => each.scheduledMessageId === made.scheduledMessageId);
  same([waiting.content, waiting.failed], ["Adieu, adieu.", false]);
  same([waiting.to, waiting.scheduledDeliveryTimestamp], [to, later]);
  await done(new sdk.ScheduledMessagesApi(hamlet).deleteScheduledMessage(path));
  await unknown(new sdk.ScheduledMessagesApi(stranger).listScheduledMessages());
  await bad(new sdk.ScheduledMessagesApi(hamlet).deleteScheduledMessage(path), "BAD_REQUEST", 404);
}

export async function mobilePush(): Promise<void> {
  await bad(
    new sdk.MobilePushApi(hamlet).sendTestPushNotification({
      sendTestPushNotificationParameters: {},
    }),
    "NO_ACTIVE_PUSH_DEVICE",
  );
  const { deviceId } = await new sdk.MobilePushApi(hamlet).registerClientDevice();
  const phone = {
    deviceId,
    pushKey: facts.push.push_key,
    pushKeyId: facts.push.push_key_id,
    tokenKind: facts.push.token_kind,
    tokenId: facts.push.token_id,
    bouncerPublicKey: facts.push.bouncer_public_key,
    encryptedPushRegistration: facts.push.encrypted_push_registration,
  };
  await done(
    new sdk.MobilePushApi(hamlet).registerPushDevice({ registerPushDeviceParameters: phone }),
  );
  const { devices } = await new sdk.MobilePushApi(hamlet).listOwnDevices();
  const device = devices[String(deviceId)];
  same(device?.pushKeyId, facts.push.push_key_id);
  same(device?.pushRegistrationErrorCode, null);
  await done(
    new sdk.MobilePushApi(hamlet).sendTestPushNotification({
      sendTestPushNotificationParameters: { deviceId },
    }),
  );
  await done(
    new sdk.MobilePushApi(hamlet).removeClientDevice({
      removeClientDeviceParameters: { deviceId },
    }),
  );
  await unknown(new sdk.MobilePushApi(stranger).listOwnDevices());
}

export async function calls(): Promise<void> {
  await bad(
    new sdk.CallsApi(hamlet).createZoomCall({ createZoomCallParameters: {} }),
    "INVALID_ZOOM_TOKEN",
  );
  const begun = await new sdk.CallsApi(hamlet).beginVendorAuthorization();
  same(begun.url.includes("/calls/vendor/register?link="), true);
  const { code, state, cookie } = facts.vendor;
  await done(
    new sdk.CallsApi(nobody).completeVendorAuthorization({ code, state }, adding("Cookie", cookie)),
  );
  same((await new sdk.CallsApi(hamlet).getVendorTokenState()).hasVendorToken, true);
  const audio = { isVideoCall: false };
  const call = await new sdk.CallsApi(hamlet).createVideoCall({ createCallParameters: audio });
  same(call.url.startsWith("http"), true);
  const video = { isVideoCall: true };
  const zoom = await new sdk.CallsApi(hamlet).createZoomCall({ createZoomCallParameters: video });
  same(zoom.url.startsWith("http"), true);
  await done(new sdk.CallsApi(hamlet).revokeVendorToken());
  const { authorization, user_id: userId } = facts.vendor_notice;
  const notice = { event: "app_deauthorized", payload: { userId } };
  await done(
    new sdk.CallsApi(nobody).receiveVendorNotice(
      { vendorNotice: notice },
      adding("Authorization", authorization),
    ),
  );
  await unknown(new sdk.CallsApi(stranger).getVendorTokenState());
}

export async function linkifiers(): Promise<void> {
  const issue = { pattern: "#(?P<id>[0-9]+)", urlTemplate: "https://issues.example/{id}" };
  const ticket = { pattern: "T(?P<id>[0-9]+)", urlTemplate: "https://tickets.example/{id}" };
  const first = await new sdk.LinkifiersApi(cordelia).createLinkifier({
    linkifierParameters: issue,
  });
  const second = await new sdk.LinkifiersApi(cordelia).createLinkifier({
    linkifierParameters: ticket,
  });
  const shown = { ...ticket, exampleInput: "T12" };
  await done(
    new sdk.LinkifiersApi(cordelia).updateLinkifier({
      filterId: second.id,
      linkifierParameters: shown,
    }),
  );
  const order = { orderedLinkifierIds: [second.id, first.id] };
  await done(
    new sdk.LinkifiersApi(cordelia).reorderLinkifiers({ reorderLinkifiersParameters: order }),
  );
  const listed = await new sdk.LinkifiersApi(hamlet).listLinkifiers();
  same(
    listed.linkifiers.map((each) => each.exampleInput),
    ["T12", null],
  );
  const path = { filterId: first.id };
  await done(new sdk.LinkifiersApi(cordelia).deleteLinkifier(path));
  await unknown(new sdk.LinkifiersApi(stranger).listLinkifiers());
  await bad(new sdk.LinkifiersApi(cordelia).deleteLinkifier(path));
}

export async function playgrounds(): Promise<void> {
  const body = {
    name: "Try it",
    syntaxLanguage: "Python",
    urlTemplate: "https://try.example/{code}",
  };
  const made = await new sdk.PlaygroundsApi(cordelia).createPlayground({
    createPlaygroundParameters: body,
  });
  const path = { playgroundId: made.id };
  await done(new sdk.PlaygroundsApi(cordelia).deletePlayground(path));
  await unknown(
    new sdk.PlaygroundsApi(stranger).createPlayground({ createPlaygroundParameters: body }),
  );
  await bad(new sdk.PlaygroundsApi(cordelia).deletePlayground(path));
}

export async function domains(): Promise<void> {
  const body = { domain: "elsinore.example", allowSubdomains: false };
  const made = await new sdk.DomainsApi(cordelia).createDomain({ createDomainParameters: body });
  same(made.newDomain[1], "elsinore.example");
  const path = { domain: "elsinore.example" };
  const wider = { allowSubdomains: true };
  await done(new sdk.DomainsApi(cordelia).updateDomain({ ...path, updateDomainParameters: wider }));
  const listed = await new sdk.DomainsApi(cordelia).listDomains();
  same(listed.domains, [{ domain: "elsinore.example", allowSubdomains: true }]);
  await done(new sdk.DomainsApi(cordelia).deleteDomain(path));
  await unknown(new sdk.DomainsApi(stranger).listDomains());
  await bad(new sdk.DomainsApi(cordelia).deleteDomain(path));
}

export async function dataExports(): Promise<void> {
  const body = { exportType: "public" as const };
  const made = await new sdk.ExportsApi(cordelia).createExport({ createExportParameters: body });
  const listed = await new sdk.ExportsApi(cordelia).listExports();
  const running = only(listed.exports, (each) => each.id === made.id);
  same([running.pending, running.exportType], [true, "public"]);
  const finished = only(listed.exports, (each) => each.id === facts.finished_export_id);
  same(finished.exportUrl?.startsWith("http"), true);
  const consents = (await new sdk.ExportsApi(cordelia).listExportConsents()).exportConsents;
  same(only(consents, (each) => each.userId === people.hamlet.id).consented, false);
  const path = { exportId: finished.id };
  await done(new sdk.ExportsApi(cordelia).deleteExport(path));
  await unknown(new sdk.ExportsApi(stranger).listExports());
  await bad(new sdk.ExportsApi(cordelia).deleteExport({ exportId: made.id }));
}
