// A text in the fragment of an address: "#lua=" or "#ptx=", and the text, deflated, in base64url. Browsers send no fragment to a server.
"use strict"

const LONGEST_LINKED = 4 << 20 // bytes of a text

async function through(stream, bytes, most = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader()
  const parts = []
  let size = 0
  for (let part; !(part = await reader.read()).done;) {
    size += part.value.length
    if (size > most) throw new Error("the text is too long")
    parts.push(part.value)
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer())
}

async function toFragment(kind, text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text))
  let binary = ""
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return `#${kind}=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`
}

/** {kind, text}, or undefined if the fragment has no text. Rejects if it is damaged. */
async function ofFragment(fragment) {
  const match = /^#(lua|ptx)=(.*)$/s.exec(fragment)
  if (!match) return undefined
  try {
    const binary = atob(match[2].replaceAll("-", "+").replaceAll("_", "/"))
    const bytes = await through(new DecompressionStream("deflate-raw"), Uint8Array.from(binary, c => c.charCodeAt(0)), LONGEST_LINKED)
    return { kind: match[1], text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) }
  } catch (error) {
    throw new Error(`The link is damaged, or was cut: its text cannot be read (${error.message}).`)
  }
}
