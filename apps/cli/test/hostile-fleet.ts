// HostileFleet: a small fleet in which every text that someone else wrote would act on a terminal.
// Owns making it. Leaves looking at it to the tests.

import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

/** Each way in which a text acts on a terminal or hides itself. */
export const corpus: ReadonlyArray<string> = [
  "\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007",
  "\u001b]52;c;ZXZpbA==\u0007",
  "\u001b]0;title\u001b\\",
  "\u001b[31mred\u001b[0m\u001b[2J\u001b[1;1H",
  "\u009b31mc1\u009b0m\u009d0;title\u009c",
  "bell\u0007",
  "line\rover",
  "back\b\b\bspace",
  "\u001bPq#0\u001b\\dcs",
  "\u202egnp.exe\u200b\u2066"
]

const hostile = corpus.join(" ")

const sign = defineTool({
  name: "sign",
  description: `Signs. ${hostile}`,
  needsApproval: true,
  input: { type: "object", properties: { contract: { type: "string" } }, required: ["contract"] },
  run: () => hostile
})
const paint = defineTool({ name: "paint", description: "Paints.", run: () => hostile })

export const definition = defineFleet({
  assistants: [
    defineAssistant({
      id: "clerk",
      instructions: `You are a clerk. ${hostile}`,
      persona: hostile,
      tools: [sign, paint],
      blocks: [{ label: "notes", type: "core", content: hostile }]
    }),
    defineAssistant({ id: "clara", instructions: "You are a clerk too.", tools: [sign] }),
    defineAssistant({ id: "carl", instructions: "You are gone.", tools: [] })
  ]
})

export interface HostileFleet {
  readonly approval: string
  readonly dead: string
}

/** Fills a directory: history, a halt, an approval that waits, a dead letter. */
export const fill = async (data: string): Promise<HostileFleet> => {
  await using fleet = await Fleet.open({ fleet: definition, data, model: "offline" })
  await fleet.send("clerk", "/paint {}")
  await fleet.send("clerk", `Good morning. ${hostile}`, { from: "ann\u001b[31m" })
  await fleet.send("clara", `/sign ${JSON.stringify({ contract: hostile })}`)
  await fleet.halt("carl", `enough ${hostile}`)
  await fleet.idle()
  await fleet.send("carl", hostile, { id: "late" })
  await fleet.retire("carl", hostile)
  await fleet.idle()
  await fleet.halt("clerk", hostile)
  await fleet.idle()
  const [asked] = await fleet.approvals.list("clara")
  const [deadLettered] = await fleet.deadLetters.list()
  return { approval: asked?.approval ?? "", dead: deadLettered?.envelope ?? "" }
}
