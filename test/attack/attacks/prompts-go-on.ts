// Much changes around an assistant while it is spoken to: goals, what is said nearby, the process it lives in. Each prompt
// begins with all that was sent before the event of the one before it, so that a provider's cache knows it.

import { type ModelRequest, startModelServer, type WireMessage } from "@reverie/testkit/model-server"
import { untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge } from "../judge.ts"
import type { Scene, Server } from "../scene.ts"
import { spokenScript } from "../spoken.ts"

const ROUNDS = 8
const ANSWER_MILLIS = 15_000

const nearby = async ({ client }: Server, text: string): Promise<void> => {
  const init = { method: "POST", headers: { "content-type": "application/json" } }
  await client.status("/v1/assistants/desk/messages", {
    ...init,
    body: JSON.stringify({ text, channel: "room:quay", from: "Jo" })
  })
}

const textOf = (round: number): string =>
  round % 3 === 1 ? `!add_goal {"description":"Mend net number ${round}."}` : `How is day ${round}?`

const speak = async (server: Server, from: number, to: number): Promise<ReadonlyArray<Posted>> => {
  const posted: Array<Posted> = []
  for (let round = from; round < to; round++) {
    if (round % 2 === 0) await nearby(server, `Ferry ${round} is late.`)
    const each = { assistant: "desk", id: `said-${round}` }
    if (await server.client.post(each, textOf(round))) posted.push(each)
    await untilAnswered(server.client, [each], ANSWER_MILLIS)
  }
  return posted
}

const written = (messages: ReadonlyArray<WireMessage>): ReadonlyArray<string> =>
  messages.map((message) => JSON.stringify(message))

const isMemory = ({ content }: WireMessage): boolean =>
  typeof content === "string" && content.startsWith("<recalled_memories>")

/** What of a prompt the next one begins with: all but memories, and but the event while it waits for an answer. */
const lasting = ({ messages }: ModelRequest): ReadonlyArray<string> =>
  written((messages.at(-1)?.role === "user" ? messages.slice(0, -1) : messages).filter((each) => !isMemory(each)))

const goesOn = (before: ModelRequest, after: ModelRequest): boolean => {
  const now = written(after.messages)
  return (
    JSON.stringify(before.tools) === JSON.stringify(after.tools) &&
    lasting(before).every((text, index) => text === now[index])
  )
}

const goingOn = async (scene: Scene): Promise<Finding> => {
  const asked: Array<ModelRequest> = []
  const model = await startModelServer({
    record: false,
    script: (request) => {
      asked.push(request)
      return spokenScript(request)
    }
  })
  try {
    const options = { fleet: "keeping.ts", env: { OPENAI_BASE_URL: model.url } }
    const first = await scene.serve(options)
    const before = await speak(first, 0, ROUNDS)
    await first.kill()
    const second = await scene.serve(options)
    const posted = [...before, ...(await speak(second, ROUNDS, 2 * ROUNDS))]
    const judged = await judge(second.client, posted)
    const told = await scene.cli(["agents", "cache", "desk", "--data", scene.data, "--json"])
    await second.stop()
    const broken = asked.slice(1).filter((after, at) => !goesOn(asked[at] as ModelRequest, after))
    const whole = JSON.stringify(asked.at(-1)?.messages ?? [])
    const checks: ReadonlyArray<Check> = [
      { says: "the model was asked often", ok: asked.length >= 2 * ROUNDS, seen: `${asked.length} times` },
      {
        says: "each prompt goes on where the one before it ended",
        ok: broken.length === 0,
        seen: `${broken.length} do not`
      },
      {
        says: "goals and what was said nearby are in it",
        ok: whole.includes("# Goals") && whole.includes("Ferry 0 is late."),
        seen: whole.slice(0, 400)
      },
      {
        says: "the command line names no part that ended it",
        ok: told.code === 0 && told.stdout.includes('"prefix"') && !told.stdout.includes('"broken"'),
        seen: told.stdout.slice(0, 400) + told.stderr.slice(0, 200)
      }
    ]
    return { ...judged, checks }
  } finally {
    await model.close()
  }
}

export const promptsGoOn: ReadonlyArray<Attack> = [
  {
    name: "prompts-go-on",
    item: 13,
    says: "goals, surroundings and the process change while someone speaks to an assistant",
    isShort: true,
    run: goingOn
  }
]
