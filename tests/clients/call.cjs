// node call.cjs: for each line of its input, `{"config": {...}, "path": "messages.send", "args":
// [...]}`, it calls that function of zulip-js and prints the response. The first line of its output
// contains the paths of all functions that have arguments and one response.
const readline = require("node:readline");
const zulip = require("zulip-js");

const OTHER = ["config", "callEndpoint", "callOnEachEvent"];

function paths(holder, before) {
  return Object.entries(holder).flatMap(([name, value]) =>
    typeof value === "function" ? [before + name] : paths(value, `${before}${name}.`),
  );
}

async function answer({ config, path, args }) {
  const client = await zulip(config);
  const called = path.split(".").reduce((holder, name) => holder[name], client);
  return called(...args);
}

async function main() {
  const client = await zulip({ realm: "http://127.0.0.1", username: "", apiKey: "none" });
  const resources = Object.entries(client).filter(([name]) => !OTHER.includes(name));
  console.log(JSON.stringify(paths(Object.fromEntries(resources), "")));
  for await (const line of readline.createInterface({ input: process.stdin })) {
    console.log(JSON.stringify(await answer(JSON.parse(line))));
  }
}

main();
