// Commands in a web worker: one at a time, each with an end. A command that is cancelled, or takes too long, ends with its worker.
"use strict"

const MACHINE = { seconds: 30, folder: new URL("playground/", document.baseURI) }

class Machine {
  constructor() {
    const address = new URL("wgrun.wasm", MACHINE.folder)
    // What a server calls the file does not matter.
    this.module = fetch(address).then(async answer => {
      if (!answer.ok) throw new Error(`wgrun.wasm: ${answer.status} ${answer.statusText}`)
      return WebAssembly.compile(await answer.arrayBuffer())
    })
    this.count = 0
  }

  /** Resolves to what runTool (tool.js) gives, or rejects. Ends a command that still runs. */
  run(words, files) {
    this.end("another command has begun")
    const running = this.begin(words, files)
    this.running = running
    running.catch(() => {}).then(() => { if (this.running === running) this.running = undefined })
    return running
  }

  async begin(words, files) {
    const id = ++this.count
    const module = await this.module
    if (id !== this.count) throw new Error("another command has begun")
    if (!this.worker) {
      this.worker = new Worker(new URL("worker.js", MACHINE.folder))
      this.worker.postMessage({ module })
    }
    const { worker } = this
    return new Promise((resolve, reject) => {
      const over = setTimeout(() => this.end(`it took longer than ${MACHINE.seconds} seconds`), MACHINE.seconds * 1000)
      const settle = (how, value) => {
        clearTimeout(over)
        this.reject = undefined
        how(value)
      }
      this.reject = error => settle(reject, error)
      worker.onmessage = ({ data }) => data.error ? settle(reject, new Error(data.error)) : settle(resolve, data.answer)
      worker.onerror = event => {
        this.worker = undefined
        worker.terminate()
        settle(reject, new Error(event.message || "the worker cannot start"))
      }
      worker.postMessage({ id, words, files })
    })
  }

  /** Resolves once no command runs. */
  async idle() {
    while (this.running) await this.running.catch(() => {})
  }

  /** Ends the command that runs, if there is one. */
  end(why) {
    ++this.count
    if (!this.reject) return
    this.worker.terminate()
    this.worker = undefined
    this.reject(Object.assign(new Error(why), { ended: true }))
  }
}
