// Features: what the SDK has beside messages, each tried by a small program on the installed package.
// Owns the programs and what they print. Leaves bundlers and documents to their rows.
// F1  A program prints what it found, line by line, and a row compares all of it: what is printed beside that is a finding too.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import type { Finding, Row } from "./scene.ts"

/** Sets a reminder in a while and one by cron, waits for the first, and is refused one that is no rule. */
const remindersProgram = `import { defineAssistant, defineFleet, Fleet, ReminderInvalid, reminderTools } from "reverie"
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [...reminderTools] })
await using fleet = await Fleet.open({ data: "data", model: "offline", fleet: defineFleet({ assistants: [desk] }) })
await fleet.reminders.set("desk", "tide", { inMs: 50, note: "Look at the tide." })
await fleet.reminders.set("desk", "standup", { cron: "0 9 * * 1-5", timeZone: "Europe/Berlin", note: "Ask for news." })
await fleet.idle({ patienceMs: 5_000 })
const [standup, tide] = (await fleet.reminders.list("desk")).toSorted((one, other) => (one.id < other.id ? -1 : 1))
console.log(tide.id, tide.state, tide.log.at(-1).outcome)
console.log(standup.id, standup.state, standup.next.due > Date.now())
await fleet.reminders.cancel("desk", "standup")
await fleet.reminders.set("desk", "wrong", { cron: "61 * * * *", note: "?" }).catch((error) => console.log("refused", error instanceof ReminderInvalid))
`

/** A kind of context of its own, and a component plugged into every other prompt. */
const contextsProgram = `import { defineAssistant, defineFleet, Fleet } from "reverie"
const asked = []
const model = { name: "own", infer: async ({ messages }) => (asked.push(messages.map(({ content }) => content).join(" ")), "Aye.") }
const planning = { overrides: { system_prompt: "You plan before you act." }, components: ["system_prompt", "pending_event"], tools: [] }
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", contexts: { planning } })
const fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })
await fleet.prompts.createComponent({ key: "weather", name: "Weather", description: "", content: "Sunny for {assistant}.", afterStatic: 1000, role: "system" })
await fleet.answer("desk", "A plain one.")
await fleet.answer("desk", "Plan it.", { context: "planning" })
console.log("plain", asked[0].includes("You keep the desk."), asked[0].includes("Sunny for desk."))
console.log("planning", asked[1].includes("You plan before you act."), asked[1].includes("Sunny"), asked[1].includes("A plain one."))
const report = await fleet.history.contextReport("desk")
console.log("report", JSON.stringify(report).includes('"planning"'))
await fleet.prompts.undo("component", "weather")
console.log("undone", (await fleet.prompts.listPluggableComponents()).length)
await fleet.close()
`

/** Guardrails at four places, none of which lets a card number or a promise through. */
const hooksProgram = `import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"
import { calls, scriptedModel } from "reverie/testing"
const masked = (text) => text.replaceAll(/\\d{4} \\d{4}/g, "[card]")
const findOrder = defineTool({ name: "find_order", description: "Finds an order.", run: () => "order 7, paid with 4000 0002" })
const hooks = {
  onMessage: ({ text }) => ({ text: masked(text) }),
  beforeTool: ({ args }) => (args.all ? { refuse: "One at a time." } : undefined),
  afterTool: ({ result }) => ({ result: masked(result) }),
  afterModel: ({ text }) => (text.includes("refund") ? { refuse: "Promise no refund." } : undefined)
}
const desk = defineAssistant({ id: "desk", instructions: "You answer customers.", tools: [findOrder], hooks })
const model = scriptedModel([calls("find_order", { all: true }), calls("find_order", {}), "You get a refund.", "Order 7 it is."])
const fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })
console.log(await fleet.answer("desk", "I paid with 4000 0002."))
const { ticks } = await fleet.history.ticks("desk")
console.log(ticks[0].hooks.map(({ did, hook }) => hook + " " + did).join(", "))
console.log("seen", JSON.stringify(model.requests.map(({ messages }) => messages)).includes("4000 0002"))
await fleet.close()
`

/** An image that a model sees, a file that it does not, and a part that is none. */
const partsProgram = `import { defineAssistant, defineFleet, EnvelopeInvalid, Fleet } from "reverie"
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const infer = async ({ messages }) => {
  const { content, parts = [] } = messages.at(-1)
  return parts.map(({ mediaType, data }) => mediaType + " " + data.length).join() + content.split("\\n").at(-1)
}
const desk = defineAssistant({ id: "desk", instructions: "You keep the harbour." })
const model = { name: "looker", accepts: ["image"], infer }
const fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })
const plan = { type: "file", data: new TextEncoder().encode("%PDF-1.4"), mediaType: "application/pdf", name: "plan.pdf" }
console.log(await fleet.answer("desk", "What is it?", { parts: [{ type: "image", data: png, name: "berth.png" }, plan] }))
const rows = await fleet.history.entries("desk")
const [{ digest }] = rows.flatMap(({ entry }) => entry.messages).flatMap(({ parts = [] }) => parts)
console.log("kept", (await fleet.blob(digest)).length, JSON.stringify(rows).includes(png))
const wrong = fleet.send("desk", "", { parts: [{ type: "image", data: "aGVsbG8=", mediaType: "image/png" }] })
await wrong.catch((error) => console.log("refused", error instanceof EnvelopeInvalid))
await fleet.close()
`

/** Sums of what two assistants used, at a price. */
const usageProgram = `import { defineAssistant, defineFleet, Fleet } from "reverie"
const usage = { inputTokens: 1000, cachedInputTokens: 800, outputTokens: 100 }
const model = { name: "own", infer: async () => ({ text: "Berth 7.", usage }) }
const assistants = ["ada", "bob"].map((id) => defineAssistant({ id, instructions: "You assign berths." }))
const prices = { own: { inputMicros: 2_000_000, cachedInputMicros: 500_000, outputMicros: 8_000_000 } }
const fleet = await Fleet.open({ data: ":memory:", model, prices, fleet: defineFleet({ assistants }) })
for await (const part of fleet.ask("ada", "A berth?")) if (part.type === "done") console.log("done", part.usage.costMicros)
await fleet.answer("bob", "A berth?")
const { rows, total } = await fleet.usage({ by: "assistant" })
console.log(rows.map((row) => JSON.stringify(row)).length, total.calls, total.costMicros)
console.log(Object.keys(rows[0]).join(" "))
await fleet.close()
`

/** What `useChat` does without a browser: the transport and the reader of the package `ai`, and an approval between. */
const chatProgram = `import { DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses, readUIMessageStream } from "ai"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"
import { fetchHandler } from "reverie/server"
import { calls, scriptedModel } from "reverie/testing"
const look = defineTool({ name: "look", description: "Looks.", run: () => "seven ships" })
const pay = defineTool({ name: "pay", description: "Pays.", needsApproval: true, run: () => "paid" })
const model = scriptedModel([{ ...calls("look"), text: "I look.", reasoning: "Look first." }, calls("pay"), "Seven, and paid."])
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools: [look, pay] })
const fleet = await Fleet.open({ data: ":memory:", model, fleet: defineFleet({ assistants: [desk] }) })
const handler = fetchHandler(fleet, { open: true, basePath: "/api" })
const transport = new DefaultChatTransport({
  api: "http://app.example/api/v1/assistants/desk/chat",
  fetch: (url, init) => handler(new Request(url, init))
})
const messages = [{ id: "m-1", role: "user", parts: [{ type: "text", text: "How many ships?" }] }]
const say = async () => {
  const last = messages.at(-1)
  const stream = await transport.sendMessages({ trigger: "submit-message", chatId: "c", messageId: undefined, messages, abortSignal: undefined })
  const going = last.role === "assistant" ? { message: last } : {}
  let told
  for await (const message of readUIMessageStream({ ...going, stream, terminateOnError: true })) told = message
  if (last.role === "assistant") messages.pop()
  messages.push(told)
  return told
}
const shown = ({ parts }) => parts.map((part) => (part.state ? part.type + ":" + part.state : part.type)).join(" ")
const first = await say()
console.log(shown(first))
const waiting = first.parts.find((part) => part.type === "tool-pay")
waiting.approval = { ...waiting.approval, approved: true }
waiting.state = "approval-responded"
console.log("goes on", lastAssistantMessageIsCompleteWithApprovalResponses({ messages }))
const second = await say()
console.log(shown(second))
console.log(second.parts.filter((part) => part.type === "text").map((part) => part.text).join(" | "))
await handler.close()
await fleet.close()
`

/** A fleet, and what is tried of each way to mount it. */
const served = `import { defineAssistant, defineFleet, Fleet } from "reverie"
import { fetchHandler } from "reverie/server"
const definition = defineFleet({ assistants: [defineAssistant({ id: "clerk", instructions: "You assign berths." })] })
const fleet = await Fleet.open({ data: ":memory:", model: "offline", fleet: definition })
const tried = async (name: string, base: string) => {
  const life = base + "/v1/assistants/clerk"
  const body = JSON.stringify({ text: "Hello", id: name })
  const headers = { "content-type": "application/json" }
  const sent = await fetch(life + "/messages", { method: "POST", headers, body })
  const stream = await fetch(life + "/answers/" + name + "?format=parts")
  const type = stream.headers.get("content-type")?.split(";")[0]
  const isDone = (await stream.text()).includes('"type":"done"')
  console.log(name, sent.status, type, isDone, (await fetch(base + "/v1/nothing")).status)
}
`

/** What the guide about web frameworks has from one text to another. */
const guided = (from: string, to: string): string => {
  const guide = readFileSync(join(root, "docs/guides/web-frameworks.md"), "utf8")
  const at = guide.indexOf(from)
  if (at < 0) throw new Error(`the guide about web frameworks has no ${from}`)
  return guide.slice(at, guide.indexOf(to, at))
}

/** What the guide has for Hono and Express, mounted in both for real. */
const frameworksProgram = (): string => {
  const answer = guided("const answer = async (request: IncomingMessage", "const server = createServer")
    .replace("request: IncomingMessage", "request: IncomingMessage & { originalUrl?: string }")
    .replace(', url = "/" }', ', originalUrl: url = "/" }')
  return `import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { serve } from "@hono/node-server"
import express from "express"
import { Hono } from "hono"
${served}
{
  const app = new Hono()
${guided("const handler = fetchHandler(fleet, { basePath", "```")}
  const base = await new Promise<string>((listening) => {
    serve({ fetch: app.fetch, port: 0 }, ({ port }) => listening("http://127.0.0.1:" + port + "/api/reverie"))
  })
  await tried("hono", base)
}
{
  const handler = fetchHandler(fleet, { open: true })
${answer}
  const app = express()
  app.use("/v1", answer)
  app.use(express.json())
  const server = app.listen(0, "127.0.0.1")
  await new Promise((resolve) => server.once("listening", resolve))
  await tried("express", "http://127.0.0.1:" + (server.address() as AddressInfo).port)
}
process.exit()
`
}

/** The same for Bun. */
export const bunProgram = (): string => `${served}
const server = ${guided("Bun.serve({", "```").replace("port: 3000", "port: 0")}
await tried("bun", "http://127.0.0.1:" + server.port)
process.exit()
`

/** A row of one program, which prints these lines and nothing else. */
const printing = (
  name: string,
  says: string,
  program: () => string,
  lines: ReadonlyArray<string>,
  others: ReadonlyArray<string> = []
): Row => ({
  name,
  says,
  isShort: others.length === 0,
  run: async (scene) => {
    const folder = await scene.installed(name, { "program.ts": program() }, others)
    const said = await scene.run(folder, "node", ["program.ts"], { node: await scene.node("24") })
    const printed = said.stdout.trim().split("\n")
    return [
      ["it comes to its end", said.code === 0, said.text],
      ...lines.map((line, index): Finding => [`it prints: ${line}`, printed[index] === line, said.text]),
      ["and nothing else", printed.length === lines.length, said.text]
    ]
  }
})

export const features: ReadonlyArray<Row> = [
  printing(
    "reminders",
    "a reminder comes at its time, another waits by cron, and what is no rule is refused",
    () => remindersProgram,
    ["tide done ran", "standup active true", "refused true"]
  ),
  printing(
    "contexts",
    "a kind of context has its own prompt, and a component that is plugged in stands in every other",
    () => contextsProgram,
    ["plain true true", "planning true false false", "report true", "undone 0"]
  ),
  printing(
    "hooks",
    "guardrails change and refuse at four places, and the model sees nothing of what they keep",
    () => hooksProgram,
    ["Order 7 it is.", "onMessage changed, beforeTool refused, afterTool changed, afterModel refused", "seen false"]
  ),
  printing(
    "parts",
    "an image reaches a model, a file reaches it as a line of text, its bytes are kept apart, and a false one is refused",
    () => partsProgram,
    ["image/png 70[file plan.pdf, application/pdf, 8 bytes: not shown to this model]", "kept 70 false", "refused true"]
  ),
  printing("usage", "what was used is summed by assistant, at its price", () => usageProgram, [
    "done 1600",
    "2 2 3200",
    "key tokens calls costMicros unpricedCalls inputTokens cachedTokens outputTokens reasoningTokens"
  ]),
  printing(
    "use-chat",
    "the transport and the reader of the AI SDK follow an answer with reasoning, tools and an approval to its end",
    () => chatProgram,
    [
      "step-start reasoning:done text:done tool-look:output-available step-start tool-pay:approval-requested",
      "goes on true",
      "step-start reasoning:done text:done tool-look:output-available step-start tool-pay:output-available step-start text:done",
      "I look. | Seven, and paid."
    ],
    ["ai@7.0.173"]
  ),
  printing(
    "frameworks",
    "Hono and Express mount a fleet as the guide says: a message is taken, its answer streams, and nothing is a 404",
    frameworksProgram,
    ["hono 202 text/event-stream true 404", "express 202 text/event-stream true 404"],
    ["hono@4.13.19", "@hono/node-server@2", "express@5.3.0"]
  )
]
