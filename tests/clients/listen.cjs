// node listen.cjs CONFIGURATION: prints each event from zulip-js as a line of JSON.
const zulip = require("zulip-js");

async function listen(zuliprc) {
  const client = await zulip({ zuliprc });
  const queue = await client.queues.register({ event_types: ["message"] });
  console.log(JSON.stringify({ type: "registered", queue }));
  // Without types it sends the text `null`, which means all.
  await client.callOnEachEvent((event) => console.log(JSON.stringify(event)));
}

listen(process.argv[2]);
