// Runs the scripts that Bruno created from the links of a document. They read an answer and set variables.
// Reads a list of scripts as JSON from standard input, and writes the failing scripts as JSON.
"use strict";

const fs = require("node:fs");
const vm = require("node:vm");

// Every property of an answer exists.
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
