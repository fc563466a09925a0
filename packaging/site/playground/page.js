// The playground's page: an editor, and beside it what wgrun says of its text. docs/playground.md has the place where it goes.
"use strict"

const IDLE = 700 // milliseconds after the last key, before the text is checked
const LIMITS = ["--max-memory", "1024"] // MiB of a script and of what is made of it; machine.js limits the time: wgrun itself needs a thread for that

/** An element with attributes and children; texts are texts, never HTML. */
function make(tag, attributes = {}, ...children) {
  const out = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes))
    if (name.startsWith("on")) out.addEventListener(name.slice(2), value)
    else if (value !== undefined && value !== false) out.setAttribute(name, value === true ? "" : value)
  out.append(...children)
  return out
}

const VERDICT_MARKS = { proved: "✓", refuted: "✗", undecided: "?" }
const VIEWS = {
  findings: { title: "Findings", kinds: ["lua", "ptx"] },
  run: { title: "Run", kinds: ["lua"] },
  timeline: { title: "Timeline", kinds: ["lua"] },
  pictures: { title: "Pictures", kinds: ["lua", "ptx"] },
  ptx: { title: "PTX", kinds: ["lua"] },
  cuda: { title: "CUDA C++", kinds: ["lua"] },
  lua: { title: "Lua", kinds: ["ptx"] },
}

class Playground {
  constructor(place, examples, machine) {
    this.machine = machine
    this.examples = examples
    this.view = "findings"
    this.build(place)
  }

  build(place) {
    const groups = new Map()
    this.examples.forEach((example, index) => {
      if (!groups.has(example.group)) groups.set(example.group, make("optgroup", { label: example.group }))
      groups.get(example.group).append(make("option", { value: index }, example.title))
    })
    this.chooser = make("select", { "aria-label": "Example", onchange: () => this.open(this.examples[this.chooser.value]) },
      make("option", { value: "", disabled: true }, "Examples"), ...groups.values())
    this.kinds = make("select", { "aria-label": "Language", onchange: () => this.changed(this.kinds.value) },
      make("option", { value: "lua" }, "Lua"), make("option", { value: "ptx" }, "PTX"))
    this.cancel = make("button", { type: "button", disabled: true, onclick: () => this.machine.end("cancelled") }, "Cancel")
    this.status = make("span", { class: "status", role: "status" }, "Loading wgrun")
    const bar = make("div", { class: "bar" }, this.chooser, this.kinds,
      make("button", { type: "button", onclick: () => this.link() }, "Link to this text"), this.cancel, this.status)
    this.tabs = Object.fromEntries(Object.entries(VIEWS).map(([name, { title }]) =>
      [name, make("button", { type: "button", role: "tab", id: `tab-${name}`, "aria-controls": "playground-panel", onclick: () => this.show(name) }, title)]))
    const tabs = make("div", { class: "tabs", role: "tablist", "aria-label": "What wgrun shows", onkeydown: event => this.step(event) }, ...Object.values(this.tabs))
    this.panel = make("div", { class: "panel", id: "playground-panel", role: "tabpanel", tabindex: "0" })
    const left = make("div", { class: "text" })
    this.notice = make("div", { role: "alert" })
    place.replaceChildren(bar, this.notice, make("div", { class: "halves" }, left, make("div", { class: "results" }, tabs, this.panel)))
    place.classList.add("running")
    this.editor = CodeMirror(left, {
      lineNumbers: true, gutters: ["findings", "CodeMirror-linenumbers"], indentUnit: 2, tabSize: 2, screenReaderLabel: "The script or PTX text",
      extraKeys: { "Ctrl-Enter": () => this.refresh(), "Cmd-Enter": () => this.refresh(), Tab: false, "Shift-Tab": false },
    })
    this.editor.on("change", () => this.changed())
  }

  get kind() { return this.kinds.value }
  get name() { return `kernel.${this.kind}` }
  get files() { return { [this.name]: this.editor.getValue() } }

  open({ text, kind }) {
    this.kinds.value = kind
    this.editor.setValue(text)
    this.changed(kind)
    this.refresh()
  }

  /** The text or its language has changed. */
  changed(kind) {
    const looks = /^\s*(?:\/\/[^\n]*\n\s*)*\.version\s/.test(this.editor.getValue()) ? "ptx" : undefined
    this.kinds.value = kind || looks || this.kind
    const mode = this.kind === "ptx" ? "ptx" : "lua"
    if (this.editor.getOption("mode") !== mode) this.editor.setOption("mode", mode)
    for (const [name, tab] of Object.entries(this.tabs)) tab.hidden = !VIEWS[name].kinds.includes(this.kind)
    if (this.tabs[this.view].hidden) this.view = "findings"
    this.select()
    clearTimeout(this.waiting)
    if (this.view === "findings") this.waiting = setTimeout(() => this.refresh(), IDLE)
  }

  select() {
    for (const [name, tab] of Object.entries(this.tabs)) {
      tab.setAttribute("aria-selected", name === this.view)
      tab.tabIndex = name === this.view ? 0 : -1
    }
    this.panel.setAttribute("aria-labelledby", `tab-${this.view}`)
  }

  /** The arrow keys move from tab to tab. */
  step(event) {
    const turn = { ArrowLeft: -1, ArrowRight: 1 }[event.key]
    if (!turn) return
    const seen = Object.keys(this.tabs).filter(name => !this.tabs[name].hidden)
    const next = seen[(seen.indexOf(this.view) + turn + seen.length) % seen.length]
    this.tabs[next].focus()
    this.show(next)
  }

  show(view) {
    this.view = view
    this.select()
    this.refresh()
  }

  refresh() {
    clearTimeout(this.waiting)
    return this[this.view]()
  }

  /** Runs a command on the text, and puts into `place` what `tell` makes of the answer. A later command takes over. */
  async ask(words, tell, place = this.panel) {
    const asked = this.asked = Symbol("a command")
    this.panel.setAttribute("aria-busy", "true")
    this.cancel.disabled = false
    this.status.textContent = "Working"
    const begun = performance.now()
    let shown, status
    try {
      shown = tell(await this.machine.run(words, this.files))
      status = `${words[0]}: ${((performance.now() - begun) / 1000).toFixed(2)} s`
    } catch (error) {
      shown = [make("p", { class: "error" }, `${words[0]}: ${error.message}`)]
      status = error.ended ? "Ended" : "Failed"
    }
    if (asked !== this.asked) return
    place.replaceChildren(...shown)
    this.status.textContent = status
    this.panel.removeAttribute("aria-busy")
    this.cancel.disabled = true
  }

  findings() {
    return this.ask(commandsOf.check(this.name, this.kind === "lua" ? LIMITS : []), answer => {
      let report
      try {
        report = JSON.parse(answer.output)
      } catch {
        report = { findings: [], kernels: [] }
      }
      this.mark(report.findings)
      const parts = report.findings.map(finding => this.finding(finding))
      const errors = report.findings.filter(({ severity }) => severity === "error").length
      const said = answer.messages.trim()
      const counted = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`
      return [
        make("p", { class: errors ? "summary bad" : "summary" },
          `${counted(report.kernels.length, "kernel")}, ${counted(errors, "error")}, ${counted(report.findings.length - errors, "remark")}`),
        ...parts, ...(report.kernels || []).map(kernel => this.verdicts(kernel)), ...(said ? [make("pre", { tabindex: "0" }, said)] : [])]
    })
  }

  mark(findings) {
    const { editor } = this
    editor.clearGutter("findings")
    editor.getAllMarks().forEach(mark => mark.clear())
    editor.eachLine(line => editor.removeLineClass(line, "background"))
    const worst = new Map()
    for (const finding of findings) {
      if (finding.file !== this.name || !finding.line || finding.line > editor.lineCount()) continue
      const there = worst.get(finding.line) || { severity: "note", texts: [] }
      if (finding.severity === "error" || there.severity === "note") there.severity = finding.severity
      there.texts.push(`${finding.message} ${finding.rule && `[${finding.rule}]`}`)
      worst.set(finding.line, there)
    }
    for (const [line, { severity, texts }] of worst) {
      const text = texts.join("\n")
      editor.setGutterMarker(line - 1, "findings", make("span", { class: `mark ${severity}`, title: text, role: "img", "aria-label": `${severity}: ${text}` }, severity === "error" ? "✗" : "!"))
      editor.addLineClass(line - 1, "background", `line-${severity}`)
    }
  }

  line(line, text = `line ${line}`) {
    return make("button", { type: "button", class: "place", onclick: () => {
      this.editor.setCursor(line - 1, 0)
      this.editor.scrollIntoView({ line: line - 1, ch: 0 }, 120)
      this.editor.focus()
    } }, text)
  }

  finding(finding) {
    const here = ({ file, line }) => line ? [file === this.name ? this.line(line) : `${file}:${line}`, ": "] : []
    const out = make("div", { class: `finding ${finding.severity}` },
      make("p", {}, make("strong", {}, finding.severity), " ", ...here(finding), finding.message))
    for (const note of finding.notes || []) out.append(make("p", { class: "note" }, ...here(note), note.message))
    if (finding.fix) out.append(make("p", { class: "fix" }, make("strong", {}, "fix"), " ", finding.fix))
    const [fix] = finding.fixes || []
    if (fix && fix.every(({ file, text, line }) => file === this.name && line && text !== undefined))
      out.append(make("button", { type: "button", onclick: () => this.apply(fix) }, "Insert the fix"))
    if (finding.rule) {
      const law = make("div", {})
      out.append(make("details", { ontoggle: () => this.law(finding.rule, law) },
        make("summary", {}, `${finding.rule}${finding.section ? `, PTX ISA ${finding.section}` : ""}: the law`), law,
        make("p", {}, make("a", { href: `rules.html#${finding.rule.toLowerCase()}` }, `${finding.rule} among the rules`))))
    }
    return out
  }

  async law(rule, place) {
    if (place.childNodes.length) return
    await this.machine.idle()
    place.append(make("pre", { tabindex: "0" }, (await this.machine.run(["explain", rule], {})).output))
  }

  /** Insertions stand before or after a line of the text as it was, so the last comes first. */
  apply(fix) {
    const lines = this.editor.getValue().split("\n")
    for (const { line, position, text } of [...fix].sort((a, b) => b.line - a.line)) {
      const added = text.replace(/\n$/, "").split("\n")
      if (position === "replace") lines.splice(line - 1, 1, ...added)
      else lines.splice(position === "after" ? line : line - 1, 0, ...added)
    }
    this.editor.setValue(lines.join("\n"))
    this.refresh()
  }

  verdicts(kernel) {
    const rows = (kernel.verdicts || []).map(({ property, verdict, domain, reason, file, line, assumption }) => {
      const where = line && file === this.name ? [" ", this.line(line)] : []
      return make("tr", { class: verdict },
        make("td", {}, make("span", { "aria-hidden": "true" }, VERDICT_MARKS[verdict]), " ", verdict), make("td", {}, property),
        make("td", {}, domain || reason || "", ...where, ...(assumption ? [make("div", {}, assumption)] : [])))
    })
    const count = kind => (kernel.verdicts || []).filter(({ verdict }) => verdict === kind).length
    return make("details", { class: "verdicts", open: rows.length > 0 && count("proved") < rows.length },
      make("summary", {}, `${kernel.name}: ${count("proved")} of ${rows.length} properties proved`),
      make("table", {}, make("thead", {}, make("tr", {}, ...["verdict", "property", "launches or reason"].map(head => make("th", {}, head)))), make("tbody", {}, ...rows)))
  }

  /** What a command prints, as text. */
  text(words, then = () => [], place = this.panel) {
    return this.ask(words, answer => {
      const said = answer.messages.trim()
      return [...then(answer), ...(answer.output ? [make("pre", { class: "output", tabindex: "0" }, answer.output)] : []), ...(said ? [make("pre", { class: "messages", tabindex: "0" }, said)] : []),
        ...(answer.output || said ? [] : [make("p", {}, `Nothing was printed; the exit code is ${answer.code}.`)])]
    }, place)
  }

  run() { return this.text(commandsOf.run(this.name, LIMITS), answer => this.pictured(answer.files)) }
  ptx() { return this.text(commandsOf.ptx(this.name, LIMITS)) }
  cuda() { return this.text(commandsOf.cuda(this.name, LIMITS)) }
  lua() { return this.text(commandsOf.lua(this.name, [])) }
  timeline() { return this.text(commandsOf.timeline(this.name, LIMITS), answer => this.pictured(answer.files)) }

  /** The SVG files among those that a command has written. An image runs no script. */
  pictured(files) {
    return Object.entries(files).filter(([name]) => name.endsWith(".svg")).map(([name, text]) => {
      const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }))
      return make("figure", {}, make("a", { href: address, target: "_blank" }, make("img", { src: address, alt: name })), make("figcaption", {}, name))
    })
  }

  pictures() {
    this.expression ||= make("input", { type: "text", value: "m64n16k16", "aria-label": "A layout, a product, or a name that the script returns", spellcheck: "false",
      onkeydown: event => { if (event.key === "Enter") this.draw() } })
    this.look ||= make("select", { "aria-label": "What the picture shows" }, ...["auto", "offsets", "bytes", "chunks", "banks", "conflicts", "overview"].map(view => make("option", {}, view)))
    this.canvas ||= make("div", {})
    const some = ["m64n16k16", "(8,64):(64,1)", "Swizzle<3,4,3> o smem_ptr[16b](unset) o (8,64):(64,1)", "m16n8k16"].map(text =>
      make("button", { type: "button", class: "place", onclick: () => { this.expression.value = text; this.draw() } }, text))
    this.panel.replaceChildren(
      make("p", {}, "A layout in CuTe's notation, a product such as m64n16k16, or the name of a layout, tile or fragment in the table that the script returns:"),
      make("p", { class: "bar" }, this.expression, this.look, make("button", { type: "button", onclick: () => this.draw() }, "Draw")),
      make("p", { class: "some" }, ...some), this.canvas)
    return this.draw()
  }

  draw() {
    const expression = this.expression.value.trim()
    const named = /^[A-Za-z_]\w*$/.test(expression) && !/^m\d/.test(expression)
    const look = this.look.value === "auto" ? [] : ["--view", this.look.value, ...(named ? [] : ["--dtype", "bf16"])]
    const words = ["layout", "--svg", "picture.svg", ...look, ...(named ? ["kernel.lua", expression] : ["--", expression])]
    return this.text(words, answer => this.pictured(answer.files), this.canvas)
  }

  async link() {
    const fragment = await toFragment(this.kind, this.editor.getValue())
    history.replaceState(null, "", fragment)
    let copied = true
    try {
      await navigator.clipboard.writeText(location.href)
    } catch {
      copied = false // not allowed: the address has it
    }
    this.status.textContent = copied ? "The link is copied" : "The link is in the address bar"
  }

  async start() {
    let linked
    try {
      linked = await ofFragment(location.hash)
      this.notice.replaceChildren()
    } catch (error) {
      this.notice.replaceChildren(make("p", { class: "error" }, error.message))
    }
    this.open(linked || this.examples[0])
    this.chooser.value = linked ? "" : "0"
  }
}

addEventListener("DOMContentLoaded", async () => {
  const place = document.getElementById("wgrun-playground")
  try {
    if (location.protocol === "file:") throw new Error("Browsers give WebAssembly to pages of a server alone: run python3 -m http.server in the site's folder, and open its address.")
    const machine = new Machine() // it loads meanwhile
    const answer = await fetch(new URL("examples.json", MACHINE.folder))
    window.playground = new Playground(place, await answer.json(), machine)
    await window.playground.start()
  } catch (error) {
    place.replaceChildren(make("p", { class: "error" }, `The playground does not start: ${error.message}`))
  }
})
addEventListener("hashchange", () => window.playground?.start())
