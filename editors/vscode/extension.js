// Starts the language server of wgrun (docs/editors.md) for Lua scripts and PTX, and passes it the settings.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate(context) {
  const settings = workspace.getConfiguration("wgrun");
  const [command, ...args] = settings.get("command");
  const initializationOptions = {};
  for (const name of ["restricted", "seconds", "dynamic", "verdicts"]) initializationOptions[name] = settings.get(name);
  client = new LanguageClient("wgrun", "wgrun", { command, args }, {
    documentSelector: [{ language: "lua" }, { language: "ptx" }],
    initializationOptions,
  });
  context.subscriptions.push(workspace.onDidChangeConfiguration(async (change) => {
    if (!change.affectsConfiguration("wgrun")) return;
    await deactivate();
    await activate({ subscriptions: [] });
  }));
  await client.start();
}

async function deactivate() {
  const running = client;
  client = undefined;
  if (running) await running.stop();
}

module.exports = { activate, deactivate };
