// Has every kind of failure happen whose text holds a key, and says on standard output all that can be read of it.

import { setTimeout as sleep } from "node:timers/promises"
import { inspect } from "node:util"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

const { DATABASE_URL = "", OPENAI_API_KEY = "" } = process.env
const [data, ...kinds] = process.argv.slice(2)

const leak = defineTool({
  name: "leak",
  description: "Connects.",
  run: (_, { call }) => {
    const text = `no connection to ${DATABASE_URL} with ${OPENAI_API_KEY}`
    if (call.endsWith(".0")) throw new Error(text, { cause: { key: OPENAI_API_KEY } })
    return { text, nested: [OPENAI_API_KEY] }
  }
})

const shown: Array<string> = []
const show = (what: unknown): void => {
  shown.push(typeof what === "string" ? what : JSON.stringify(what), inspect(what, { depth: 12 }))
  if (what instanceof Error) shown.push(String(what.stack))
}

const fleet = await Fleet.open({
  ...(data === undefined || data === "-" ? {} : { data }),
  traceContent: { maxChars: 4_000 },
  onError: (_, failure) => show(failure),
  onNotice: show,
  fleet: defineFleet({
    assistants: kinds.map((id) => defineAssistant({ id, instructions: "You are under test.", tools: [leak] }))
  })
})
for (const id of kinds) await fleet.send(id, `Please: ${id}`)
for (const id of kinds) {
  // A failed call is tried again after a while, so not every one of them comes to an end.
  while (!(await fleet.history.entries(id)).some(({ entry }) => entry.step !== undefined)) await sleep(20)
}
await sleep(500)
for (const id of kinds) show(await fleet.history.entries(id))
show(await fleet.views())
show(await fleet.monitor.metrics())
show(fleet.profile)
await fleet.close()

const definition = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "p" })] })
const password = URL.parse(DATABASE_URL)?.password ?? ""
for (const database of [
  `postgres://reverie:${password}@127.0.0.1:1/none`,
  `postgres//reverie:${password}@no-url`,
  `nosuch://u:${password}@h/x`
]) {
  await Fleet.open({ deployment: { database }, fleet: definition, model: "offline" }).then(
    (opened) => opened.close(),
    show
  )
}
show(`${shown.length} things were shown`)
process.stdout.write(shown.join("\n"))
