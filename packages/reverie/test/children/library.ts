// A process of its own, for what was loaded stays loaded: prints whether the library of blocks was, before and after the
// first block is changed. The directory of the command line has a block from an earlier life.

import { createRequire } from "node:module"
import { defineAssistant, defineFleet, Fleet } from "reverie"

const loaded = (): boolean =>
  Object.keys(createRequire(import.meta.url).cache).some((file) => file.includes("loro-crdt"))

const note = { label: "note", type: "core", content: "Name: Ann" } as const
const desk = defineAssistant({ id: "desk", instructions: "You are under test.", blocks: [note] })
await using fleet = await Fleet.open({
  data: String(process.argv[2]),
  model: "offline",
  fleet: defineFleet({ assistants: [desk] })
})
const blocks = fleet.blocks
await fleet.answer("desk", "What are you?")
const [block] = await blocks.list()
const before = loaded()
await blocks.edit(block?.id ?? "", { op: "append_text", text: "." })
process.stdout.write(JSON.stringify({ before, after: loaded(), text: block?.text }))
