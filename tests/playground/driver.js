// Runs in the browser, in a page beside the playground's: uses it in a frame, and posts what is wrong (browser.py).
"use strict"

const wrong = [], figures = {}
let looked = 0

function look(holds, what) {
  ++looked
  if (!holds) wrong.push(what)
}

const pause = time => new Promise(done => setTimeout(done, time))

async function until(holds, what, seconds = 60) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(20))
    try { if (holds()) return look(true, what) } catch { /* not there yet */ }
  look(false, `${what}: not in ${seconds} seconds`)
}

async function open(width, scheme, fragment = "") {
  const frame = document.createElement("iframe")
  Object.assign(frame, { width, height: width < 800 ? 1500 : 1000, src: `/playground.html${fragment}` })
  frame.style.border = "0"
  document.body.append(frame)
  await new Promise(done => { frame.onload = done })
  const page = frame.contentWindow
  page.addEventListener("error", event => wrong.push(`an error: ${event.message}`))
  page.addEventListener("unhandledrejection", event => wrong.push(`a rejection: ${event.reason}`))
  page.addEventListener("securitypolicyviolation", event => { if (!page.expected) wrong.push(`the policy: ${event.violatedDirective} ${event.blockedURI}`) })
  page.document.body.setAttribute("data-md-color-scheme", scheme)
  return frame
}

const panel = page => page.document.querySelector("#playground-panel")
const idle = page => !panel(page).hasAttribute("aria-busy")
const shows = (page, text) => idle(page) && panel(page).textContent.includes(text)
const press = (page, text) => [...page.document.querySelectorAll(".playground button")].find(one => one.textContent === text).click()

async function write(page, kind, text, said, what, seconds) {
  page.playground.open({ kind, text })
  await until(() => shows(page, said), what, seconds)
}

async function use(width, scheme) {
  const where = `${width} pixels, ${scheme}`
  const begun = performance.now()
  const frame = await open(width, scheme)
  const page = frame.contentWindow
  await until(() => page.document.querySelector(".playground .CodeMirror-line span").textContent, `${where}: the text`)
  figures[`the editor with its text, ${where}, s`] = ((performance.now() - begun) / 1000).toFixed(2)
  await until(() => shows(page, "WG-FENCE-01"), `${where}: the first findings`)
  figures[`first findings, ${where}, s`] = ((performance.now() - begun) / 1000).toFixed(2)
  const { document } = page
  look(document.querySelectorAll(".playground .mark.error").length === 1, `${where}: a mark in the gutter`)
  look(document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1, `${where}: ${document.documentElement.scrollWidth} pixels wide`)
  document.querySelector(".playground .finding details summary").click()
  await until(() => document.querySelector(".playground .finding details pre").textContent.includes("comes before the first wgmma"), `${where}: the law`)
  if (page.axe || await axe(page)) {
    // The keys move within the editor through its text field.
    const found = await page.axe.run({ include: [[".playground"]], exclude: [[".CodeMirror-scroll"]] }, { runOnly: ["wcag2a", "wcag2aa"] })
    for (const rule of found.violations) for (const node of rule.nodes) wrong.push(`${where}: ${rule.id}: ${node.html.slice(0, 90)}: ${(node.any[0] || node.all[0] || node.none[0]).message}`)
    look(true, "axe")
  }
  press(page, "Insert the fix")
  await until(() => shows(page, "0 errors") && shows(page, "properties proved"), `${where}: the fix`)
  look(document.querySelectorAll(".playground .mark").length === 0, `${where}: the marks are gone`)
  for (const [view, text] of [["Run", "worst error"], ["Timeline", "cycles"], ["PTX", "wgmma.fence.sync.aligned"], ["CUDA C++", "__global__"], ["Pictures", "m64n16k16"]]) {
    press(page, view)
    await until(() => shows(page, text), `${where}: ${view}`)
    look(document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1, `${where}: ${view} is ${document.documentElement.scrollWidth} pixels wide`)
  }
  await until(() => [...document.querySelectorAll(".playground figure img")].some(image => image.naturalWidth > 100), `${where}: a picture`)
  frame.remove()
}

async function axe(page) {
  await new Promise(done => {
    const script = page.document.createElement("script")
    script.onload = script.onerror = done
    script.src = "/axe.min.js"
    page.document.head.append(script)
  })
  return page.axe
}

async function examples() {
  const frame = await open(1400, "default")
  const page = frame.contentWindow
  await until(() => page.playground && idle(page), "the page")
  for (const example of page.playground.examples) {
    page.playground.show("findings")
    page.playground.open(example)
    const [rule] = /WG-[A-Z]+-\d+/.exec(example.title) || []
    await until(() => shows(page, rule || "0 errors"), `the example ${example.title}`)
  }
  const gemm = page.playground.examples.find(({ file }) => file.endsWith("gemm.lua") && file.startsWith("packaging"))
  page.playground.open(gemm)
  await until(() => idle(page), "wg.gemm is checked")
  for (let turn = 0; turn < 3; ++turn) {
    const begun = performance.now()
    const answer = await page.playground.machine.run(["run", "--backend", "sim", "kernel.lua"], { "kernel.lua": gemm.text })
    const seconds = ((performance.now() - begun) / 1000).toFixed(2)
    if (answer.code !== 0) wrong.push(`wg.gemm: ${answer.messages}`)
    if (!(figures["wg.gemm of 256 cubed, with its start, s"] <= seconds)) figures["wg.gemm of 256 cubed, with its start, s"] = seconds
  }
  frame.remove()
}

async function hostile() {
  const frame = await open(1400, "slate")
  const page = frame.contentWindow
  await until(() => shows(page, "WG-FENCE-01"), "the first findings")
  await write(page, "lua", "while true do end", "longer than 30 seconds", "an endless script ends", 80)
  page.playground.open({ kind: "lua", text: "while true do end" })
  await pause(300)
  const begun = performance.now()
  press(page, "Cancel")
  await until(() => shows(page, "cancelled"), "Cancel ends it", 5)
  look(performance.now() - begun < 1000, "Cancel ends it at once")
  await write(page, "lua", "local t = {} while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end", "memory", "a script without end of memory", 80)
  await write(page, "lua", "local a = \0 1", "1 error", "a NUL")
  await write(page, "lua", "local function (", "1 error", "a syntax error")
  await write(page, "lua", "local function f(n) return 1 + f(n + 1) end f(0)", "overflow", "deep recursion")
  await write(page, "ptx", `.version 8.0\n${"{".repeat(100000)}`, "error", "garbage that is called PTX")
  await write(page, "lua", "x = x + 1\n".repeat(100000), "error", "a megabyte")
  await write(page, "lua", "local wg = require 'wgrun' print(1)", "0 errors", "a script after all of them")
  // Markup of a text is text.
  await write(page, "lua", "error('<img src=x onerror=parent.hacked=1><b>x</b>')", "<b>x</b>", "markup in a message")
  look(!panel(page).querySelector("img, b"), "markup stays text")
  look(!window.hacked, "markup runs nothing")
  // Nothing leaves: what is loaded is the site's, and the browser refuses the rest.
  look(page.performance.getEntriesByType("resource").every(({ name }) => name.startsWith(location.origin) || name.startsWith("blob:")), "all is loaded from the site")
  page.expected = true
  look(await page.fetch("https://example.com/").then(() => false, () => true), "the policy refuses another address")
  // A link with the text.
  page.playground.open({ kind: "ptx", text: ".version 8.0 // ä 𝛼\n" })
  await page.playground.link()
  const fragment = page.location.hash
  look(/^#ptx=[\w-]+$/.test(fragment), `a link: ${fragment}`)
  frame.remove()
  const linked = await open(1400, "default", fragment)
  await until(() => linked.contentWindow.playground.editor.getValue() === ".version 8.0 // ä 𝛼\n" && linked.contentWindow.playground.kind === "ptx", "the text of a link")
  linked.remove()
  for (const garbage of ["#lua=", "#lua=!!!", "#lua=AAAA", `#lua=${fragment.slice(5, 15)}`, "#ptx=%00%ff"]) {
    const damaged = await open(1400, "default", garbage)
    await until(() => damaged.contentWindow.document.querySelector(".playground [role=alert]").textContent.includes("damaged") && shows(damaged.contentWindow, "WG-FENCE-01"), `the link ${garbage}`)
    damaged.remove()
  }
}

async function drive() {
  try {
    for (const width of [400, 1400]) for (const scheme of ["default", "slate"]) await use(width, scheme)
    await examples()
    await hostile()
  } catch (error) {
    wrong.push(`${error} ${error.stack}`)
  }
  await fetch("/done", { method: "POST", body: JSON.stringify({ wrong, figures, looked }) })
}

/** For a picture: the frame fills the window. */
async function show({ width, scheme, view }) {
  const frame = await open(width, scheme)
  frame.style.cssText = "border:0; position:fixed; inset:0; width:100%; height:100%"
  const page = frame.contentWindow
  await until(() => shows(page, "WG-FENCE-01"), "the first findings")
  if (view !== "findings") {
    press(page, "Insert the fix")
    await until(() => shows(page, "0 errors"), "the fix")
    page.playground.show(view)
    await until(() => idle(page), view)
  }
  await pause(500)
  await fetch("/done", { method: "POST", body: "{}" })
}
