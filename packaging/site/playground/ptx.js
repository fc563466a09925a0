// PTX for the editor.
"use strict"

CodeMirror.defineSimpleMode("ptx", {
  start: [
    { regex: /\/\/.*/, token: "comment" },
    { regex: /\/\*/, token: "comment", next: "comment" },
    { regex: /"(?:[^"\\]|\\.)*"/, token: "string" },
    { regex: /\.(?:version|target|address_size|visible|extern|weak|entry|func|reg|param|shared|local|global|const|align|maxntid|reqntid|minnctapersm|loc|file|section|pragma|branchtargets|explicitcluster|reqnctapercluster|maxclusterrank)\b/, token: "keyword" },
    { regex: /%[\w$.]+/, token: "variable-2" },
    { regex: /\b(?:0[xX][\da-fA-F]+U?|0[fFdD][\da-fA-F]+|\d[\d.]*(?:[eE][+-]?\d+)?U?)\b/, token: "number" },
    { regex: /[\w$]+(?=\s*:)/, token: "tag" },
    { regex: /[a-z][\w]*(?:(?:\.|::)[\w]+)*/, token: "builtin" },
    { regex: /\.[\w]+(?:::[\w]+)*/, token: "type" },
  ],
  comment: [
    { regex: /.*?\*\//, token: "comment", next: "start" },
    { regex: /.*/, token: "comment" },
  ],
  meta: { lineComment: "//" },
})
