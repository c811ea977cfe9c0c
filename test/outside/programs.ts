// Programs: what a stranger writes on the first day.
// Owns their text. The first of them is the one in the README of the package.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import type { Finding, Said } from "./scene.ts"

/** The README's first program, letter for letter. */
export const readmeProgram = (): string => {
  const readme = readFileSync(join(root, "README.md"), "utf8")
  const [, program] = /```ts\n(import [\s\S]*?)```/.exec(readme) ?? []
  if (program === undefined) throw new Error("the README has no program")
  return program
}

/** A fleet behind a fetch handler, as a route of Next, Hono or Bun mounts it. */
export const mountedProgram = `import { defineAssistant, defineFleet, Fleet } from "reverie"
import { fetchHandler } from "reverie/server"
const desk = defineAssistant({ id: "desk", instructions: "You run the front desk of a harbour." })
const fleet = await Fleet.open({ data: "data", model: "offline", fleet: defineFleet({ assistants: [desk] }) })
const closed = fetchHandler(fleet)
console.log("closed", (await closed(new Request("http://app.example/v1/assistants"))).status)
const handler = fetchHandler(fleet, { open: true, basePath: "/api" })
const sent = await handler(
  new Request("http://app.example/api/v1/assistants/desk/messages", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ text: "hello" })
  })
)
console.log("sent", sent.status)
await fleet.idle()
const listed = await handler(new Request("http://app.example/api/v1/assistants"))
console.log("listed", listed.status, JSON.stringify(await listed.json()).includes('"desk"'))
await handler.close()
await closed.close()
await fleet.close()
`

/** Tools by the schema libraries people use: arguments are inferred, what does not fit is refused in a sentence. */
export const schemasProgram = `import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { defineAssistant, defineTool, type Tool } from "reverie"
import { calls, expectToolCalls, runTool, scriptedModel, testFleet } from "reverie/testing"
import * as v from "valibot"
import { z } from "zod"
import { z as z3 } from "zod3"

const description = "Moors a ship."
const tools: ReadonlyArray<Tool> = [
  defineTool({
    name: "by_zod",
    description,
    input: z.object({ ship: z.string(), metres: z.number().int().optional() }),
    run: ({ metres = 1, ship }) => ship.toUpperCase() + String(metres + 1)
  }),
  defineTool({
    name: "by_valibot",
    description,
    input: toStandardJsonSchema(v.object({ ship: v.string(), metres: v.optional(v.number()) })),
    run: ({ metres = 1, ship }) => ship.toUpperCase() + String(metres + 1)
  }),
  defineTool({
    name: "by_zod_3",
    description,
    input: z3.object({ ship: z3.string(), metres: z3.number().int().optional() }),
    run: ({ metres = 1, ship }) => ship.toUpperCase() + String(metres + 1)
  }),
  defineTool({
    name: "by_bare_valibot",
    description,
    input: v.object({ ship: v.string(), metres: v.optional(v.pipe(v.number(), v.integer())) }),
    run: ({ metres = 1, ship }) => ship.toUpperCase() + String(metres + 1)
  }),
  defineTool({
    name: "by_arktype",
    description,
    input: type({ ship: "string", "metres?": "number" }),
    run: ({ metres = 1, ship }) => ship.toUpperCase() + String(metres + 1)
  })
]
for (const tool of tools) {
  console.log(tool.name, (await runTool(tool, { ship: "Aurora", metres: 33 })).content)
  await runTool(tool, { ship: 7 }).catch((error) => console.log(tool.name, String(error).split("\\n")[1]))
}
const script = [...tools.map(({ name }) => calls(name, { ship: "Birch" })), "Moored."]
const desk = defineAssistant({ id: "desk", instructions: "You keep the desk.", tools, maxSteps: 8 })
await using fleet = await testFleet(desk, { model: scriptedModel(script) })
console.log(await fleet.answer("desk", "Moor her five times."))
await expectToolCalls(fleet, "desk", tools.map(({ name }) => ({ tool: name, ok: true })))
try {
  defineTool({ name: "date_by_zod_3", description, input: z3.object({ when: z3.date() }), run: () => "moored" })
} catch (error) {
  console.log(String(error))
}
try {
  defineTool({ name: "date_by_valibot", description, input: v.object({ when: v.date() }), run: () => "moored" })
} catch (error) {
  console.log(String(error))
}
`

/** Answers in a form by the same libraries: what comes back has the type of the schema, and no cast stands anywhere. */
export const formsProgram = `import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as Schema from "effect/Schema"
import { AnswerFailed, defineAssistant } from "reverie"
import { scriptedModel, testFleet } from "reverie/testing"
import * as v from "valibot"
import { z } from "zod"
import { z as z3 } from "zod3"

const byZod = z.object({ berth: z.number(), from: z.string().transform((text) => text.length) })
const byValibot = toStandardJsonSchema(v.object({ berth: v.number(), from: v.string() }))
const byBare = v.object({ berth: v.number(), from: v.string() })
const byZod3 = z3.object({ berth: z3.number(), from: z3.string().transform((text) => text.length) })
const byArktype = type({ berth: "number", from: "string" })
const byEffect = Schema.toStandardSchemaV1(Schema.toCodecJson(Schema.Struct({ berth: Schema.Number, from: Schema.String })))
const byJson = {
  type: "object",
  properties: { berth: { type: "number" }, from: { type: "string" } },
  required: ["berth", "from"]
} as const

const model = scriptedModel(() => '{"berth":7,"from":"noon"}')
const desk = defineAssistant({ id: "desk", instructions: "You assign berths.", output: byZod })
const plain = defineAssistant({ id: "plain", instructions: "You assign berths." })
await using fleet = await testFleet(plain, { model })
const question = "Which berth is free?"

const zod = await fleet.answer("plain", question, { output: byZod })
console.log("zod", zod.berth.toFixed(1), zod.from.toFixed(1))
const valibot = await fleet.answer("plain", question, { output: byValibot })
console.log("valibot", valibot.berth.toFixed(1), valibot.from.toUpperCase())
const bare = await fleet.answer("plain", question, { output: byBare })
console.log("bare", bare.berth.toFixed(1), bare.from.toUpperCase())
const zod3 = await fleet.answer("plain", question, { output: byZod3 })
console.log("zod3", zod3.berth.toFixed(1), zod3.from.toFixed(1))
const arktype = await fleet.answer("plain", question, { output: byArktype })
console.log("arktype", arktype.berth.toFixed(1), arktype.from.toUpperCase())
const effect = await fleet.answer("plain", question, { output: byEffect })
console.log("effect", effect.berth.toFixed(1), effect.from.toUpperCase())
const json = await fleet.answer("plain", question, { output: byJson })
console.log("json", json.berth.toFixed(1), json.from.toUpperCase())
for await (const part of fleet.ask("plain", question, { output: byValibot })) {
  if (part.type === "done") console.log("parts", part.output.berth.toFixed(1), part.output.from.toUpperCase())
}
const words = await fleet.answer("plain", question)
console.log("words", words.toUpperCase())
// @ts-expect-error a text has no berth
words.berth
// @ts-expect-error there is no such member
zod.side

const even = z.object({ berth: z.number().refine((berth) => berth % 2 === 0, "must be even") })
await fleet.answer("plain", question, { output: even }).catch((error: unknown) => {
  if (error instanceof AnswerFailed) console.log(error.code, error.reply, error.message)
})
await fleet.answer("plain", question, { output: z3.object({ when: z3.date() }) }).catch((error) => console.log(String(error)))
await using other = await testFleet(desk, { model })
for await (const part of other.ask("desk", question)) {
  if (part.type === "done") console.log("definition", JSON.stringify(part.output))
}
`

/** The program in the README of `reverie/testing`, letter for letter, and a line that says it came to its end. */
export const testingProgram = (): string => {
  const readme = readFileSync(join(root, "packages/reverie/src/testing/README.md"), "utf8")
  const [, program] = /```ts run\n(import [\s\S]*?)```/.exec(readme) ?? []
  if (program === undefined) throw new Error("the README of reverie/testing has no program")
  return `${program}console.log("tested")\n`
}

/** What it says with the offline model: a tool with a JSON Schema has been called. */
export const ANSWER = /^berth 7, from noon/m

export const answered = (where: string, said: Said): ReadonlyArray<Finding> => [
  [`${where}: the tool's answer is printed`, said.code === 0 && ANSWER.test(said.stdout), said.text.slice(-600)],
  [`${where}: no warning of SQLite`, !/SQLite/.test(said.stderr), said.stderr]
]

/** The same in JavaScript. */
export const plainProgram = (): string => readmeProgram()

const desk = `import { blockTools, defineAssistant, defineFleet, defineTool, Fleet, memoryTools } from "reverie"
export const fleet = defineFleet({
  assistants: [
    defineAssistant({
      id: "desk",
      instructions: "You run the front desk of a harbour.",
      tools: [
        ...memoryTools,
        ...blockTools,
        defineTool({
          name: "count_primes",
          description: "Counts the primes below the given number.",
          input: { type: "object", properties: { below: { type: "number" } }, required: ["below"] },
          isolate: { memoryMb: 128 },
          run: new URL("./count-primes.mjs", import.meta.url)
        })
      ]
    })
  ]
})
`

/** What runs beside the program: a process for a tool, the WASM of blocks. */
export const workersProgram: Readonly<Record<string, string>> = {
  "desk.mjs": `${desk}
const opened = await Fleet.open({ data: "data", model: "offline", fleet })
for await (const part of opened.ask("desk", "count primes below 100")) if (part.type === "done") console.log(part.reply)
const { blocks } = opened
const { block } = await blocks.create({ owner: "desk", label: "notes", type: "working", content: "berth 7 is free" })
await blocks.edit(block, { op: "append_text", text: " until noon" })
console.log((await blocks.read(block)).text)
await opened.close()
`,
  "count-primes.mjs": `export default ({ below }) => {
  const primes = Array.from({ length: below }, (_, n) => n).filter((n) => n > 1 && !Array.from({ length: n }, (_, d) => d).some((d) => d > 1 && n % d === 0))
  return primes.length + " primes"
}
`
}

/** Asks for everything that is an optional peer, and prints how each is refused. */
export const peersProgram = `import { defineAssistant, defineFleet, Fleet, mcpServer } from "reverie"
const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "p" })] })
const refused = async (ask) => console.log(await ask().then(() => "opened", (error) => error._tag + ": " + error.message))
await refused(() => mcpServer({ name: "files", transport: { command: "node" }, allow: ["read_file"] }))
await refused(() => Fleet.open({ fleet, deployment: { database: "postgres://nobody@127.0.0.1:1/none" } }))
await refused(() => Fleet.open({ fleet, deployment: { database: "postgres://nobody@127.0.0.1:1/none", redis: "redis://127.0.0.1:1" } }))
const opened = await Fleet.open({ data: "data", model: "offline", fleet, recall: { url: "http://127.0.0.1:1" } })
await refused(() => opened.memory.recall("desk", "a berth"))
process.exit()
`

/** Checked, never run: what is inferred, and that a mistake is found. */
export const typedProgram = (): string => `${readmeProgram()}
import type { FleetDefinition, Part, Tool } from "reverie"
export const tool: Tool = berths
export const definition = (part: Part): FleetDefinition | undefined => (part.type === "done" ? undefined : undefined)
// @ts-expect-error an assistant has no colour
defineAssistant({ id: "desk", instructions: "p", colour: "red" })
// @ts-expect-error a fleet is asked with a text
fleet.ask("desk", 7)
`

/** Packages of the AI SDK, one for each version of its interface; installed under their numbers. */
export const aiSdks = ["1", "2", "3"].map((major) => `sdk${major}@npm:@ai-sdk/openai-compatible@${major}`)

/** Asks through each of them, with a tool, of a server that speaks plainly and in streams. */
export const aiSdkProgram = `import { createServer } from "node:http"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"
const server = createServer((request, response) => {
  const chunks = []
  request.on("data", (chunk) => chunks.push(chunk))
  request.on("end", () => {
    const { messages, stream } = JSON.parse(Buffer.concat(chunks))
    const call = { index: 0, id: "c1", type: "function", function: { name: "find_berth", arguments: '{"metres":95}' } }
    const isAsked = messages.at(-1).role === "user"
    const said = isAsked ? { role: "assistant", tool_calls: [call] } : { role: "assistant", content: "Berth 7 it is." }
    const finish_reason = isAsked ? "tool_calls" : "stop"
    const whole = { id: "1", created: 1, model: "tiny", usage: { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 } }
    if (!stream) return response.end(JSON.stringify({ ...whole, choices: [{ index: 0, message: said, finish_reason }] }))
    response.setHeader("content-type", "text/event-stream")
    for (const choice of [{ delta: said, finish_reason: null }, { delta: {}, finish_reason }]) {
      response.write("data: " + JSON.stringify({ ...whole, choices: [{ index: 0, ...choice }] }) + "\\n\\n")
    }
    response.end("data: [DONE]\\n\\n")
  })
}).listen(0, "127.0.0.1")
await new Promise((resolve) => server.once("listening", resolve))
const baseURL = "http://127.0.0.1:" + server.address().port + "/v1"
const tool = defineTool({
  name: "find_berth",
  description: "Finds a berth.",
  input: { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] },
  run: ({ metres }) => "berth 7 takes " + metres
})
const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "You assign berths.", tools: [tool] })] })
for (const name of process.argv.slice(2)) {
  const { createOpenAICompatible } = await import(name)
  const model = createOpenAICompatible({ name: "tiny", baseURL, apiKey: "none" })("tiny")
  await using open = await Fleet.open({ data: ":memory:", fleet, model })
  const answer = await open.answer("desk", "A berth for 95 metres?")
  const [tick] = (await open.history.ticks("desk")).ticks
  console.log([name, model.specificationVersion, answer, tick.tools[0].result, tick.calls.length].join(" | "))
}
server.close()
`

/** Beside what `reverie init` wrote. */
export const firstQuestion = `
import { Fleet } from "reverie"
import fleet from "./fleet.ts"
await using opened = await Fleet.open({ fleet, model: "offline", data: ".asked" })
console.log(await opened.answer("desk", "What time is it?"))
`
