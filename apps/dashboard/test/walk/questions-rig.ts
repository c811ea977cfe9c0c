// Questions rig: a fleet in which something is busy, something waits, something is halted, one dreamt, and one used a tool.
// Owns the lives of three assistants and the crowd around them. Leaves what is asked of the page to questions.ts.
// Q1  The model that answers is a script, the one that dreams goes by rules; the store with everything in it, the server and the page are the product.
// Q2  The crowd is written into the same store through its ports before the fleet opens.

import { ModelRefused } from "@reverie/model"
import { DEFAULT_TENANT } from "@reverie/protocol"
import { openServer } from "@reverie/server"
import { storeSqliteLayer } from "@reverie/store-sqlite"
import { gather, type Line, type Script, scriptedModel } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { defineAssistant, defineFleet, defineTool, Fleet } from "reverie"

/** The three of whom something is asked. */
export const NAMED = { busy: "ada", asking: "bob", halted: "cleo" } as const
/** Of each definition there is one that has its name. */
const OWN = Object.keys(NAMED).length

/** What was asked, what the tool said, and what was answered with it. */
export const TALK = {
  question: "Which ships lie at the north pier?",
  result: "The Birch and the Alder lie at the north pier.",
  answer: "Two ships: the Birch, which leaves at six, and the Alder.",
  work: "Watch the tide until I am back.",
  refused: "Words that its model takes no offence at, it says.",
  danger: "Sink the Alder."
} as const

/** What people said before the night, and what the dream makes facts of. */
const EVENING: ReadonlyArray<readonly [from: string, text: string]> = [
  ["Melanie", "I grow sunflowers in the yard. They brighten up my day."],
  ["Caroline", "Do you have any pets, Mel?"],
  ["Melanie", "I have a puppy that is called Oliver."],
  ["Caroline", "I adopted a puppy in Oslo last year."]
]

const usage = { inputTokens: 1_240, outputTokens: 60, source: "provider" } as const

const script = (isWorking: () => boolean): Script => {
  const say = (line: Line) => Effect.succeed({ ...line, usage })
  return ({ messages }) => {
    const last = messages.findLast(({ role }) => role === "user")?.content ?? ""
    const isAnswered = messages.at(-1)?.role === "tool"
    if (last.includes(TALK.work)) return isWorking() ? Effect.never : say({ text: "The tide is low." })
    if (last.includes(TALK.refused)) {
      return Effect.fail(new ModelRefused({ provider: "scripted", kind: "bad-request", message: "not such words" }))
    }
    if (last.includes(TALK.danger)) {
      return say(isAnswered ? { text: "It is sunk." } : { calls: [{ tool: "sink", arguments: { ship: "Alder" } }] })
    }
    if (!last.includes(TALK.question)) return say({ text: "Noted." })
    return say(isAnswered ? { text: TALK.answer } : { calls: [{ tool: "look", arguments: { pier: "north" } }] })
  }
}

const tools = [
  defineTool({
    name: "look",
    description: "Says which ships lie at a pier.",
    input: { type: "object", properties: { pier: { type: "string" } }, required: ["pier"] },
    run: () => TALK.result
  }),
  defineTool({
    name: "sink",
    description: "Sinks a ship.",
    needsApproval: true,
    input: { type: "object", properties: { ship: { type: "string" } }, required: ["ship"] },
    run: () => "sunk"
  })
]

const crowdOf = defineAssistant({ id: "crowd", instructions: "You are many." })

const named = Object.values(NAMED).map((id) =>
  defineAssistant({ id, instructions: `You are ${id}, at the harbour.`, tools })
)

export interface QuestionsRig {
  readonly fleet: Fleet
  readonly url: string
  readonly close: () => Promise<void>
}

export interface QuestionsData {
  readonly folder: string
  /** Opens the fleet and a server over it; `isWorking` when the one that is busy stays so. */
  readonly open: (page: string, isWorking: boolean) => Promise<QuestionsRig>
  readonly remove: () => void
}

const crowdIn = (data: string, count: number): Promise<void> => {
  const request = { count, tenant: DEFAULT_TENANT, definition: crowdOf, now: Date.now(), days: 1 }
  const layer = storeSqliteLayer(data, { durability: "normal" })
  return Effect.runPromise(Effect.scoped(Effect.provide(gather(request), layer)))
}

const isAtWork = async (fleet: Fleet): Promise<boolean> =>
  (await fleet.inspect(NAMED.busy))?.state.status.startsWith("awake.thinking") === true

const live = async (fleet: Fleet): Promise<void> => {
  const { asking, busy, halted } = NAMED
  for (const [from, text] of EVENING) await fleet.post(busy, { type: "message", text }, { from })
  await fleet.idle()
  await fleet.sleep(busy)
  await fleet.idle()
  await fleet.wake(busy)
  await fleet.answer(busy, TALK.question, { from: "ann" })
  await fleet.send(asking, TALK.danger, { from: "ann" })
  await fleet.send(halted, TALK.refused, { from: "ann" })
  await fleet.idle()
  await fleet.halt(halted, "the pilot is ill")
  await fleet.idle()
  await fleet.send(busy, TALK.work, { from: "ann" })
}

/** The one that works does so, or everything that can come to rest has. */
const begun = async (fleet: Fleet, isWorking: boolean): Promise<void> => {
  if (!isWorking) return fleet.idle()
  while (!(await isAtWork(fleet))) await new Promise((resolve) => setTimeout(resolve, 10))
}

const prices = { "*": { inputMicros: 1_000_000, outputMicros: 2_000_000 } }

/** A store with so many assistants, in which the three have lived. */
export const questionsData = async (assistants: number): Promise<QuestionsData> => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-questions-"))
  const data = join(folder, "data")
  const isCrowded = assistants > OWN
  if (isCrowded) await crowdIn(data, assistants - OWN - 1)
  let hasLived = false
  return {
    folder,
    open: async (page, isWorking) => {
      let works = isWorking
      const fleet = await Fleet.open({
        data,
        model: scriptedModel(script(() => works)).model,
        models: { dream: "offline" },
        prices,
        fleet: defineFleet({ assistants: isCrowded ? [...named, crowdOf] : named })
      })
      if (!hasLived) await live(fleet)
      hasLived = true
      await begun(fleet, isWorking)
      const server = await openServer({ fleet, role: "all", tokens: [], page, port: 0 })
      return {
        fleet,
        url: server.url,
        close: async () => {
          works = false
          await server.close()
          await fleet.close()
        }
      }
    },
    remove: () => rmSync(folder, { recursive: true, force: true })
  }
}
