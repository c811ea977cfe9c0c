// As written: what names nothing, says nothing, or says something else under an id that is taken; by HTTP, and each time
// asked afterwards what became of it.

import type { Attack, Check } from "../attack.ts"
import { judge } from "../judge.ts"
import { untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"

const ASSISTANT = "desk"

interface Refusal {
  readonly says: string
  readonly path: string
  readonly body: unknown
  readonly status: number
  readonly words: string
}

const messages = `/v1/assistants/${ASSISTANT}/messages`
const events = `/v1/assistants/${ASSISTANT}/events`

const refusals: ReadonlyArray<Refusal> = [
  { says: "an empty message", path: messages, body: { text: " \n" }, status: 400, words: "is empty" },
  {
    says: "an id that stands for another text",
    path: messages,
    body: { text: "something else", id: "first" },
    status: 400,
    words: "stands for another message"
  },
  {
    says: "a kind of context that there is not",
    path: messages,
    body: { text: "hello", context: "planing" },
    status: 400,
    words: "has no context"
  },
  {
    says: "an approval that names nothing",
    path: events,
    body: { event: { type: "approval", approval: "none", decision: "approved" } },
    status: 404,
    words: "asks for no approval"
  },
  {
    says: "a field that no event has",
    path: events,
    body: { event: { type: "message", text: "hello", chanel: "ops" } },
    status: 400,
    words: "has no"
  }
]

const refused = async ({ client }: Server, { body, path, says, status, words }: Refusal): Promise<Check> => {
  const headers = { "content-type": "application/json" }
  const answer = await client.fetch(path, { method: "POST", headers, body: JSON.stringify(body) })
  const said = await answer.text()
  return {
    says: `${says} is refused with ${status} and one sentence`,
    ok: answer.status === status && said.includes(words),
    seen: `${answer.status} ${said.slice(0, 200)}`
  }
}

const swallowed: Attack = {
  name: "swallowed-in-silence",
  item: 14,
  says: "empty messages, an id used again with another text, and approvals, contexts and fields that name nothing",
  isShort: true,
  run: async (scene: Scene) => {
    const server = await scene.serve({ fleet: "small.ts" })
    const posted = { assistant: ASSISTANT, id: "first" }
    const isAcknowledged = await server.client.post(posted, "hello")
    await untilRest(server.client, 20_000)
    const checks: Array<Check> = []
    for (const refusal of refusals) checks.push(await refused(server, refusal))
    const again = await server.client.say(posted, "hello")
    const taken = await server.client.taken(ASSISTANT)
    checks.push(
      {
        says: "the same message under its id is accepted once more as a duplicate",
        ok: again === 202,
        seen: `${again}`
      },
      { says: "nothing that was refused was taken up", ok: taken.length === 1, seen: taken.join(", ") }
    )
    const judged = await judge(server.client, isAcknowledged ? [posted] : [])
    await server.stop()
    return { ...judged, checks }
  }
}

export const asWritten: ReadonlyArray<Attack> = [swallowed]
