// Compiles every *.sol beside this file with the `solc` package and writes one artifact per contract,
// {contractName, compiler, abi, bytecode}, into the directory given as the first argument.
// The output depends on the sources and the compiler's version only: no metadata hash, no paths.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const solc = require("solc");

const target = process.argv[2];
if (!target) {
  console.error("usage: node contracts/compile.cjs DIRECTORY");
  process.exit(2);
}

const names = fs.readdirSync(__dirname).filter((name) => name.endsWith(".sol")).sort();
const sources = Object.fromEntries(
  names.map((name) => [name, { content: fs.readFileSync(path.join(__dirname, name), "utf8") }]),
);
const output = JSON.parse(solc.compile(JSON.stringify({
  language: "Solidity",
  sources,
  settings: {
    evmVersion: "paris", // runs on every EVM since 2022, the in-process one included
    optimizer: { enabled: true, runs: 200 },
    metadata: { appendCBOR: false, bytecodeHash: "none" },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
  },
})));

const problems = output.errors || [];
for (const problem of problems) console.error(problem.formattedMessage);
if (problems.length) process.exit(1);

fs.mkdirSync(target, { recursive: true });
for (const name of names) {
  for (const [contractName, built] of Object.entries(output.contracts[name])) {
    if (!built.evm.bytecode.object) continue; // an interface
    const artifact = {
      contractName,
      compiler: solc.version().split("+")[0],
      abi: built.abi,
      bytecode: "0x" + built.evm.bytecode.object,
    };
    fs.writeFileSync(path.join(target, contractName + ".json"), JSON.stringify(artifact, null, 1) + "\n");
  }
}
