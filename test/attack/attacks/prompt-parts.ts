// What a model is shown and may do, changed and asked for from outside: a template by HTTP and by command through kill -9, a
// pattern with the layers that decided it, and a chat whose answer was cut.

import { type ModelRequest, startModelServer } from "@reverie/testkit/model-server"
import { untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge } from "../judge.ts"
import { untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"
import { spokenScript } from "../spoken.ts"

const ANSWER_MILLIS = 15_000
const FLEET = "patterned.ts"

const json = (method: string, body: unknown): RequestInit => ({
  method,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body)
})

/** A server whose model notes what it was asked. */
const withModel = async (
  run: (asked: ReadonlyArray<ModelRequest>, url: string) => Promise<Finding>
): Promise<Finding> => {
  const asked: Array<ModelRequest> = []
  const model = await startModelServer({
    record: false,
    script: (request) => {
      asked.push(request)
      return spokenScript(request)
    }
  })
  try {
    return await run(asked, model.url)
  } finally {
    await model.close()
  }
}

const firstOf = (asked: ReadonlyArray<ModelRequest>): string => String(asked.at(-1)?.messages[0]?.content ?? "")

const templates = (scene: Scene): Promise<Finding> =>
  withModel(async (asked, url) => {
    const options = { fleet: FLEET, env: { OPENAI_BASE_URL: url } }
    const posted: Array<Posted> = []
    const say = async ({ client }: Server): Promise<string> => {
      const each = { assistant: "desk", id: `said-${posted.length}` }
      if (await client.post(each, "How is the day?")) posted.push(each)
      await untilAnswered(client, [each], ANSWER_MILLIS)
      return firstOf(asked)
    }
    const first = await scene.serve(options)
    const before = await say(first)
    const write = (text: string, expected: number) =>
      first.client.status("/v1/prompts/default", json("PUT", { name: "Ours", text, expected }))
    const refused = await write("Hello {stranger}", 0)
    const written = await write("TEMPLATE of {assistant}.", 0)
    const after = await say(first)
    await first.kill()
    const second = await scene.serve(options)
    const kept = await say(second)
    const undone = await scene.cli(["prompts", "undo", "default", "--url", second.client.url, "--json"])
    const back = await say(second)
    const judged = await judge(second.client, posted)
    await second.stop()
    const checks: ReadonlyArray<Check> = [
      { says: "a gap that nothing fills is refused", ok: refused === 400, seen: `${refused}` },
      {
        says: "the next prompt begins with a template that was written by HTTP, and with the instructions",
        ok: written === 200 && after.startsWith("TEMPLATE of desk.") && after.includes("PROMPT-OF-DESK"),
        seen: `${written} ${after.slice(0, 200)}`
      },
      { says: "kill -9 keeps it", ok: kept === after, seen: kept.slice(0, 200) },
      {
        says: "an undo by command brings the prompt of before back",
        ok: undone.code === 0 && back === before && before.includes("PROMPT-OF-DESK"),
        seen: `${undone.code} ${undone.stderr.slice(0, 200)} ${back.slice(0, 200)}`
      }
    ]
    return { ...judged, checks }
  })

interface Shown {
  readonly pattern?: { readonly mode?: string; readonly source_layers?: { readonly [name: string]: string } }
}

const patterns = (scene: Scene): Promise<Finding> =>
  withModel(async (_asked, url) => {
    const server = await scene.serve({ fleet: FLEET, env: { OPENAI_BASE_URL: url } })
    const { client } = server
    const posted: Array<Posted> = []
    const shown: Array<Shown> = []
    for (let round = 1; round <= 4; round++) {
      const each = { assistant: "desk", id: `said-${round}` }
      if (await client.post(each, "!dig {}")) posted.push(each)
      await untilRest(client, ANSWER_MILLIS)
      shown.push((await client.json(`/v1/assistants/desk/context?tick=${round}`)) as Shown)
    }
    const run = { threadId: "t", runId: "run-1", messages: [{ id: "m", role: "user", content: "!look {}" }] }
    const rest = { state: {}, tools: [], context: [], forwardedProps: {} }
    const chat = await (await client.fetch("/v1/agui/hasty", json("POST", { ...run, ...rest }))).text()
    const judged = await judge(client, posted)
    await server.stop()
    const [one, , , four] = shown.map(({ pattern }) => pattern)
    const checks: ReadonlyArray<Check> = [
      {
        says: "a tick that nothing narrows names no layer that did",
        ok: one?.mode === "react_loop" && one.source_layers?.["max_iterations"] === "static",
        seen: JSON.stringify(one)
      },
      {
        says: "after three failures of a tool a tick is one action, and its source says so",
        ok: four?.mode === "single_action" && four.source_layers?.["mode"] === "signal:recent_errors",
        seen: JSON.stringify(four)
      },
      {
        says: "a chat whose answer was cut ends in an error with its reason",
        ok: /"type":"RUN_ERROR"[^\n]*"code":"max-iterations"/.test(chat) && !chat.includes("RUN_FINISHED"),
        seen: chat.slice(-300)
      }
    ]
    return { ...judged, checks }
  })

export const promptParts: ReadonlyArray<Attack> = [
  {
    name: "templates-by-http",
    item: 15,
    says: "someone writes a template by HTTP, the server is killed, and it is taken back by command",
    run: templates
  },
  {
    name: "patterns-say-why",
    item: 15,
    says: "a tool fails again and again, and a chat is cut after one step",
    isShort: true,
    run: patterns
  }
]
