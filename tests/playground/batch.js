// The tool of BUILD/playground for tests: batch.js FOLDER reads messages {words, files}, a line of JSON each, and prints the answer of tool.js for each.
"use strict"
const fs = require("fs")
const path = require("path")

const folder = path.resolve(process.argv[2])
const wgrun = require(path.join(folder, "wgrun.js"))
const { runTool } = require(path.join(folder, "tool.js"))
const module_ = new WebAssembly.Module(fs.readFileSync(path.join(folder, "wgrun.wasm")))

async function main() {
  for await (const line of require("readline").createInterface({ input: process.stdin })) {
    const begun = process.hrtime.bigint()
    let answer
    try {
      answer = await runTool(wgrun, module_, JSON.parse(line))
    } catch (error) {
      answer = { error: error.message, messages: error.messages }
    }
    answer.seconds = Number(process.hrtime.bigint() - begun) / 1e9
    process.stdout.write(JSON.stringify(answer) + "\n")
  }
}
main()
