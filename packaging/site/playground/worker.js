// The web worker of the playground: gets the compiled module once, then one command after the other.
"use strict"
importScripts("wgrun.js", "tool.js")

let compiled
onmessage = async ({ data }) => {
  if (data.module) {
    compiled = data.module
    return
  }
  try {
    postMessage({ id: data.id, answer: await runTool(wgrun, compiled, data) })
  } catch (error) {
    postMessage({ id: data.id, error: error.message })
  }
}
