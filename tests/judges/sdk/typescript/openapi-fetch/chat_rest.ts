// What goes out at its time or to somebody else: scheduled messages, push, calls, exports; rules of
// the organization: linkifiers, playgrounds, domains.

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
  const made = await read(hamlet.POST("/scheduled_messages", { body }));
  const path = { scheduled_message_id: made.scheduled_message_id };
  const change = { content: "Adieu, adieu." };
  await done(
    hamlet.PATCH("/scheduled_messages/{scheduled_message_id}", { params: { path }, body: change }),
  );
  const listed = (await read(hamlet.GET("/scheduled_messages"))).scheduled_messages;
  const waiting = only(listed, (each) => each.scheduled_message_id === made.scheduled_message_id);
  same([waiting.content, waiting.failed], ["Adieu, adieu.", false]);
  same([waiting.to, waiting.scheduled_delivery_timestamp], [to, later]);
  await done(hamlet.DELETE("/scheduled_messages/{scheduled_message_id}", { params: { path } }));
  await unknown(stranger.GET("/scheduled_messages"));
  await bad(
    hamlet.DELETE("/scheduled_messages/{scheduled_message_id}", { params: { path } }),
    "BAD_REQUEST",
    404,
  );
}

export async function mobilePush(): Promise<void> {
  await bad(
    hamlet.POST("/mobile_push/e2ee/test_notification", { body: {} }),
    "NO_ACTIVE_PUSH_DEVICE",
  );
  const { device_id } = await read(hamlet.POST("/register_client_device"));
  const phone = { device_id, ...facts.push };
  await done(hamlet.POST("/mobile_push/register", { body: phone }));
  const { devices } = await read(hamlet.GET("/users/me/devices"));
  const device = devices[String(device_id)];
  same(device?.push_key_id, facts.push.push_key_id);
  same(device?.push_registration_error_code, null);
  await done(hamlet.POST("/mobile_push/e2ee/test_notification", { body: { device_id } }));
  await done(hamlet.POST("/remove_client_device", { body: { device_id } }));
  await unknown(stranger.GET("/users/me/devices"));
}

export async function calls(): Promise<void> {
  await bad(hamlet.POST("/calls/zoom/create", { body: {} }), "INVALID_ZOOM_TOKEN");
  const begun = await read(hamlet.GET("/calls/vendor/register"));
  same(begun.url.includes("/calls/vendor/register?link="), true);
  const { code, state, cookie } = facts.vendor;
  const headers = { Cookie: cookie };
  await done(nobody.GET("/calls/vendor/complete", { params: { query: { code, state } }, headers }));
  same((await read(hamlet.GET("/calls/vendor/token"))).has_vendor_token, true);
  const audio = { is_video_call: false };
  const call = await read(hamlet.POST("/calls/vendor/create", { body: audio }));
  same(call.url.startsWith("http"), true);
  const video = { is_video_call: true };
  const zoom = await read(hamlet.POST("/calls/zoom/create", { body: video }));
  same(zoom.url.startsWith("http"), true);
  await done(hamlet.DELETE("/calls/vendor/token"));
  const { authorization, user_id } = facts.vendor_notice;
  const notice = { event: "app_deauthorized", payload: { user_id } };
  const by = { Authorization: authorization };
  await done(nobody.POST("/calls/vendor/deauthorize", { headers: by, body: notice }));
  await unknown(stranger.GET("/calls/vendor/token"));
}

export async function linkifiers(): Promise<void> {
  const issue = { pattern: "#(?P<id>[0-9]+)", url_template: "https://issues.example/{id}" };
  const ticket = { pattern: "T(?P<id>[0-9]+)", url_template: "https://tickets.example/{id}" };
  const first = await read(cordelia.POST("/realm/filters", { body: issue }));
  const second = await read(cordelia.POST("/realm/filters", { body: ticket }));
  const shown = { ...ticket, example_input: "T12" };
  await done(
    cordelia.PATCH("/realm/filters/{filter_id}", {
      params: { path: { filter_id: second.id } },
      body: shown,
    }),
  );
  const order = { ordered_linkifier_ids: [second.id, first.id] };
  await done(cordelia.PATCH("/realm/linkifiers", { body: order }));
  const listed = await read(hamlet.GET("/realm/linkifiers"));
  same(
    listed.linkifiers.map((each) => each.example_input),
    ["T12", null],
  );
  const path = { filter_id: first.id };
  await done(cordelia.DELETE("/realm/filters/{filter_id}", { params: { path } }));
  await unknown(stranger.GET("/realm/linkifiers"));
  await bad(cordelia.DELETE("/realm/filters/{filter_id}", { params: { path } }));
}

export async function playgrounds(): Promise<void> {
  const body = {
    name: "Try it",
    syntax_language: "Python",
    url_template: "https://try.example/{code}",
  };
  const made = await read(cordelia.POST("/realm/playgrounds", { body }));
  const path = { playground_id: made.id };
  await done(cordelia.DELETE("/realm/playgrounds/{playground_id}", { params: { path } }));
  await unknown(stranger.POST("/realm/playgrounds", { body }));
  await bad(cordelia.DELETE("/realm/playgrounds/{playground_id}", { params: { path } }));
}

export async function domains(): Promise<void> {
  const body = { domain: "elsinore.example", allow_subdomains: false };
  const made = await read(cordelia.POST("/realm/domains", { body }));
  same(made.new_domain[1], "elsinore.example");
  const path = { domain: "elsinore.example" };
  const wider = { allow_subdomains: true };
  await done(cordelia.PATCH("/realm/domains/{domain}", { params: { path }, body: wider }));
  const listed = await read(cordelia.GET("/realm/domains"));
  same(listed.domains, [{ domain: "elsinore.example", allow_subdomains: true }]);
  await done(cordelia.DELETE("/realm/domains/{domain}", { params: { path } }));
  await unknown(stranger.GET("/realm/domains"));
  await bad(cordelia.DELETE("/realm/domains/{domain}", { params: { path } }));
}

export async function dataExports(): Promise<void> {
  const body = { export_type: "public" as const };
  const made = await read(cordelia.POST("/export/realm", { body }));
  const listed = await read(cordelia.GET("/export/realm"));
  const running = only(listed.exports, (each) => each.id === made.id);
  same([running.pending, running.export_type], [true, "public"]);
  const finished = only(listed.exports, (each) => each.id === facts.finished_export_id);
  same(finished.export_url?.startsWith("http"), true);
  const consents = (await read(cordelia.GET("/export/realm/consents"))).export_consents;
  same(only(consents, (each) => each.user_id === people.hamlet.id).consented, false);
  const path = { export_id: finished.id };
  await done(cordelia.DELETE("/export/realm/{export_id}", { params: { path } }));
  await unknown(stranger.GET("/export/realm"));
  await bad(
    cordelia.DELETE("/export/realm/{export_id}", { params: { path: { export_id: made.id } } }),
  );
}
