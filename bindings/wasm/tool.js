// The tool in WebAssembly, for a web worker and for node: each command runs in a wgrun of its own, so that none finds what another has
// left. `wgrun` is the function of wgrun.js, `module` the compiled wgrun.wasm.
"use strict"

/** Runs a command: its words, and {name: text} of the files that it finds in its folder. Resolves to {code, output, messages, files}:
 * what it prints on standard output and standard error, and the files that it has written. Rejects if the machine ends (no memory,
 * the stack overflows), with an Error whose `code` is "ECRASH". `hear` gets what it prints on standard error, piece by piece. */
async function runTool(wgrun, module, { words, files = {} }, hear = () => {}) {
  const printed = { output: [], messages: [] }
  const folder = "/work"
  const tool = await wgrun({
    instantiateWasm(imports, done) {
      WebAssembly.instantiate(module, imports).then(instance => done(instance, module))
      return {}
    },
    preRun(tool) {
      const into = bytes => byte => { if (byte !== null) bytes.push(byte) }
      tool.FS.init(() => null, into(printed.output), into(printed.messages))
      tool.FS.mkdir(folder)
      tool.FS.chdir(folder)
      for (const [name, text] of Object.entries(files)) {
        if (name.includes("/")) tool.FS.mkdirTree(`${folder}/${name.slice(0, name.lastIndexOf("/"))}`)
        tool.FS.writeFile(`${folder}/${name}`, text)
      }
    },
    quit: (_, thrown) => { throw thrown },
    thisProgram: "wgrun",
  })
  const text = bytes => new TextDecoder().decode(Uint8Array.from(bytes))
  let code
  try {
    code = tool.callMain(words)
  } catch (thrown) {
    if (thrown && thrown.name === "ExitStatus") code = thrown.status
    else throw Object.assign(new Error(crash(thrown)), { code: "ECRASH", messages: text(printed.messages) })
  }
  const written = {}
  for (const name of tool.FS.readdir(folder)) {
    if (name in files || !tool.FS.isFile(tool.FS.stat(`${folder}/${name}`).mode)) continue
    written[name] = new TextDecoder().decode(tool.FS.readFile(`${folder}/${name}`))
  }
  return { code, output: text(printed.output), messages: text(printed.messages), files: written }
}

/** Why WebAssembly ended. */
function crash(thrown) {
  const text = String(thrown && thrown.message || thrown)
  if (/stack|recursion/i.test(text)) return "The stack is full: a call recurses too deeply."
  if (/memory|allocat/i.test(text)) return "There is not enough memory: the page gives wgrun 2 GiB."
  return `wgrun ended: ${text}`
}

/** The words of a command for a text of this name, which ends with .lua or .ptx. `more` are further options. */
const commandsOf = {
  check: (name, more) => ["check", "--json", "--budget", "1", ...more, name], // proofs take longer than in the tool, and readers wait
  run: (name, more) => ["run", "--backend", "sim", ...more, name],
  timeline: (name, more) => ["timeline", "--svg", "timeline.svg", ...more, name],
  ptx: (name, more) => ["ptx", ...more, name],
  cuda: (name, more) => ["cuda", ...more, name],
  lua: (name, more) => ["lua", ...more, name],
}

if (typeof module === "object") module.exports = { runTool, commandsOf }
