// What goes out at its time or to somebody else: scheduled messages, push, calls, exports; rules of
// the organization: linkifiers, playgrounds, domains.

import * as sdk from "../../../../build/sdk/chat/hey-api";
import { only, read, same } from "../answers";
import { bad, cordelia, done, facts, hamlet, nobody, people, stranger, unknown } from "./stage";

export async function scheduledMessages(): Promise<void> {
  const later = Math.floor(Date.now() / 1000) + 3600;
  const to = [people.othello.id];
  const body = {
    type: "direct" as const,
    to,
    content: "Remember me.",
    scheduled_delivery_timestamp: later,
  };
  const made = await read(sdk.createScheduledMessage({ client: hamlet, body }));
  const path = { scheduled_message_id: made.scheduled_message_id };
  const change = { content: "Adieu, adieu." };
  await done(sdk.updateScheduledMessage({ client: hamlet, path, body: change }));
  const listed = (await read(sdk.listScheduledMessages({ client: hamlet }))).scheduled_messages;
  const waiting = only(listed, (each) => each.scheduled_message_id === made.scheduled_message_id);
  same([waiting.content, waiting.failed], ["Adieu, adieu.", false]);
  same([waiting.to, waiting.scheduled_delivery_timestamp], [to, later]);
  await done(sdk.deleteScheduledMessage({ client: hamlet, path }));
  await unknown(sdk.listScheduledMessages({ client: stranger }));
  await bad(sdk.deleteScheduledMessage({ client: hamlet, path }), "BAD_REQUEST", 404);
}

export async function mobilePush(): Promise<void> {
  await bad(sdk.sendTestPushNotification({ client: hamlet, body: {} }), "NO_ACTIVE_PUSH_DEVICE");
  const { device_id } = await read(sdk.registerClientDevice({ client: hamlet }));
  const phone = { device_id, ...facts.push };
  await done(sdk.registerPushDevice({ client: hamlet, body: phone }));
  const { devices } = await read(sdk.listOwnDevices({ client: hamlet }));
  const device = devices[String(device_id)];
  same(device?.push_key_id, facts.push.push_key_id);
  same(device?.push_registration_error_code, null);
  await done(sdk.sendTestPushNotification({ client: hamlet, body: { device_id } }));
  await done(sdk.removeClientDevice({ client: hamlet, body: { device_id } }));
  await unknown(sdk.listOwnDevices({ client: stranger }));
}

export async function calls(): Promise<void> {
  await bad(sdk.createZoomCall({ client: hamlet, body: {} }), "INVALID_ZOOM_TOKEN");
  const begun = await read(sdk.beginVendorAuthorization({ client: hamlet }));
  same(begun.url.includes("/calls/vendor/register?link="), true);
  const { code, state, cookie } = facts.vendor;
  const headers = { Cookie: cookie };
  await done(sdk.completeVendorAuthorization({ client: nobody, query: { code, state }, headers }));
  same((await read(sdk.getVendorTokenState({ client: hamlet }))).has_vendor_token, true);
  const audio = { is_video_call: false };
  const call = await read(sdk.createVideoCall({ client: hamlet, body: audio }));
  same(call.url.startsWith("http"), true);
  const video = { is_video_call: true };
  const zoom = await read(sdk.createZoomCall({ client: hamlet, body: video }));
  same(zoom.url.startsWith("http"), true);
  await done(sdk.revokeVendorToken({ client: hamlet }));
  const { authorization, user_id } = facts.vendor_notice;
  const notice = { event: "app_deauthorized", payload: { user_id } };
  const by = { Authorization: authorization };
  await done(sdk.receiveVendorNotice({ client: nobody, body: notice, headers: by }));
  await unknown(sdk.getVendorTokenState({ client: stranger }));
}

export async function linkifiers(): Promise<void> {
  const issue = { pattern: "#(?P<id>[0-9]+)", url_template: "https://issues.example/{id}" };
  const ticket = { pattern: "T(?P<id>[0-9]+)", url_template: "https://tickets.example/{id}" };
  const first = await read(sdk.createLinkifier({ client: cordelia, body: issue }));
  const second = await read(sdk.createLinkifier({ client: cordelia, body: ticket }));
  const shown = { ...ticket, example_input: "T12" };
  await done(
    sdk.updateLinkifier({ client: cordelia, path: { filter_id: second.id }, body: shown }),
  );
  const order = { ordered_linkifier_ids: [second.id, first.id] };
  await done(sdk.reorderLinkifiers({ client: cordelia, body: order }));
  const listed = await read(sdk.listLinkifiers({ client: hamlet }));
  same(
    listed.linkifiers.map((each) => each.example_input),
    ["T12", null],
  );
  const path = { filter_id: first.id };
  await done(sdk.deleteLinkifier({ client: cordelia, path }));
  await unknown(sdk.listLinkifiers({ client: stranger }));
  await bad(sdk.deleteLinkifier({ client: cordelia, path }));
}

export async function playgrounds(): Promise<void> {
  const body = {
    name: "Try it",
    syntax_language: "Python",
    url_template: "https://try.example/{code}",
  };
  const made = await read(sdk.createPlayground({ client: cordelia, body }));
  const path = { playground_id: made.id };
  await done(sdk.deletePlayground({ client: cordelia, path }));
  await unknown(sdk.createPlayground({ client: stranger, body }));
  await bad(sdk.deletePlayground({ client: cordelia, path }));
}

export async function domains(): Promise<void> {
  const body = { domain: "elsinore.example", allow_subdomains: false };
  const made = await read(sdk.createDomain({ client: cordelia, body }));
  same(made.new_domain[1], "elsinore.example");
  const path = { domain: "elsinore.example" };
  const wider = { allow_subdomains: true };
  await done(sdk.updateDomain({ client: cordelia, path, body: wider }));
  const listed = await read(sdk.listDomains({ client: cordelia }));
  same(listed.domains, [{ domain: "elsinore.example", allow_subdomains: true }]);
  await done(sdk.deleteDomain({ client: cordelia, path }));
  await unknown(sdk.listDomains({ client: stranger }));
  await bad(sdk.deleteDomain({ client: cordelia, path }));
}

export async function dataExports(): Promise<void> {
  const body = { export_type: "public" as const };
  const made = await read(sdk.createExport({ client: cordelia, body }));
  const listed = await read(sdk.listExports({ client: cordelia }));
  const running = only(listed.exports, (each) => each.id === made.id);
  same([running.pending, running.export_type], [true, "public"]);
  const finished = only(listed.exports, (each) => each.id === facts.finished_export_id);
  same(finished.export_url?.startsWith("http"), true);
  const consents = (await read(sdk.listExportConsents({ client: cordelia }))).export_consents;
  same(only(consents, (each) => each.user_id === people.hamlet.id).consented, false);
  const path = { export_id: finished.id };
  await done(sdk.deleteExport({ client: cordelia, path }));
  await unknown(sdk.listExports({ client: stranger }));
  await bad(sdk.deleteExport({ client: cordelia, path: { export_id: made.id } }));
}
