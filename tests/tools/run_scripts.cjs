// Runs the scripts that Bruno made of a document's links, which read an answer and set variables.
// Reads a list of them as JSON from standard input and writes those that fail, as JSON.
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

// Whatever a script reads of an answer is there.
const anything = new Proxy({}, { get: () => anything });
const failed = [];
for (const [name, source] of JSON.parse(fs.readFileSync(0, "utf8"))) {
  for (const status of [200, 201]) {
    const res = { status, body: anything, headers: anything, getHeader: () => "" };
    try {
      vm.runInNewContext(source, { res, bru: { setVar() {} }, req: anything });
    } catch (error) {
      failed.push(`${name}: ${error.message}: ${source}`);
    }
  }
}
process.stdout.write(JSON.stringify(failed));
