// Starts the language server of wgrun (docs/editors.md) for Lua scripts and PTX, and passes it the settings.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client; // that runs
let last = Promise.resolve(); // start or stop: each waits for the one before

async function start() {
  const settings = workspace.getConfiguration("wgrun");
  const [command, ...args] = settings.get("command");
  const initializationOptions = {};
  for (const name of ["restricted", "seconds", "dynamic", "verdicts"]) initializationOptions[name] = settings.get(name);
  const next = new LanguageClient("wgrun", "wgrun", { command, args }, {
    documentSelector: [{ language: "lua" }, { language: "ptx" }],
    initializationOptions,
  });
  await next.start();
  client = next;
}

async function stop() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

/** Does these one after another, behind what was begun before, whether or not that failed. */
function inTurn(...steps) {
  for (const step of steps) last = last.then(step, step);
  return last;
}

async function activate(context) {
  context.subscriptions.push(workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration("wgrun")) return inTurn(stop, start);
  }));
  await inTurn(start);
}

function deactivate() {
  return inTurn(stop);
}

module.exports = { activate, deactivate };
