// A million characters of every kind: none of them may hold the event loop, for all others wait meanwhile.
// Nineteen assistants that get `a@a@a@...` at once stood a process still for minutes: the vocabulary's memory of merges
// deleted its oldest key for each new one, which gets slower by thousands of times once it is full.

import type { Attack, Check } from "../attack.ts"
import type { Client, Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import { holdsOf, holdsSince, millisUntil, saidOf, tornTicks, untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"
import { CHARACTERS, kinds } from "../texts.ts"

const SETTLED_WITHIN_MILLIS = 120_000

interface Sent extends Posted {
  readonly kind: string
  readonly text: () => string
}

/** Loads what is loaded once: the vocabulary, the client of the model, compiled code. */
const warm = async (client: Client): Promise<ReadonlyArray<Posted>> => {
  const posted = ["ann", "bob", "cid"].map((assistant) => ({ assistant, id: `warm-${assistant}` }))
  for (const each of posted) await client.post(each, `Hello. ${"Words of some length. ".repeat(5_000)}`)
  await untilRest(client, 30_000)
  return posted
}

/** Asks again and again while something runs; the longest that an answer took. */
const longestAnswer = async (server: Server, during: Promise<unknown>): Promise<number> => {
  let isOver = false
  const over = during.finally(() => {
    isOver = true
  })
  let longest = 0
  while (!isOver) {
    longest = Math.max(longest, await millisUntil(server, "/v1/assistants/dee", "\r\n\r\n"))
    await pause(20)
  }
  await over
  return longest
}

interface Sending {
  readonly isTogether: boolean
  /** Handled before the rest begins. */
  readonly first?: Sent
  readonly maxHoldMillis: 50 | 100
}

const attackBy = async (scene: Scene, chosen: ReadonlyArray<Sent>, { first, isTogether, maxHoldMillis }: Sending) => {
  const server = await scene.serve({ fleet: "crowd.ts" })
  const { client } = server
  const warmed = await warm(client)
  const texts = chosen.map(({ text, ...posted }) => ({ ...posted, text: text() }))
  const acknowledged: Array<Posted> = []
  const slow: Array<string> = []
  if (first !== undefined) {
    if (await client.post(first, first.text())) acknowledged.push({ assistant: first.assistant, id: first.id })
    await untilRest(client, SETTLED_WITHIN_MILLIS)
  }
  const before = await holdsOf(client)
  const send = async ({ assistant, id, kind, text }: (typeof texts)[number]): Promise<void> => {
    const from = isTogether ? before : await holdsOf(client)
    if (await client.post({ assistant, id }, text)) acknowledged.push({ assistant, id })
    if (isTogether) return
    if ((await untilRest(client, SETTLED_WITHIN_MILLIS)) === undefined) slow.push(`${kind} did not end`)
    const holds = holdsSince(from, await holdsOf(client))
    if (holds.over50 > 0) slow.push(`${kind}: ${saidOf(holds)}`)
  }
  const sending = async (): Promise<void> => {
    if (isTogether) await Promise.all(texts.map(send))
    else for (const each of texts) await send(each)
  }
  const begun = performance.now()
  const rest = sending().then(() => untilRest(client, SETTLED_WITHIN_MILLIS))
  const longest = await longestAnswer(server, rest)
  const atRest = await rest
  const seconds = Math.round((performance.now() - begun) / 100) / 10
  const holds = holdsSince(before, await holdsOf(client))
  const judged = await judge(client, [...warmed, ...acknowledged], { withinMs: 10_000 })
  let torn = 0
  for (const { assistant } of acknowledged) torn += await tornTicks(client, assistant)
  await server.stop()
  const all = chosen.length + (first === undefined ? 0 : 1)
  const tooLong = maxHoldMillis === 50 ? holds.over50 : holds.over100
  const checks: ReadonlyArray<Check> = [
    {
      says: "every long text is acknowledged",
      ok: acknowledged.length === all && chosen.length > 0,
      seen: `${acknowledged.length} of ${all}`
    },
    {
      says: `no piece of work holds the event loop for more than ${maxHoldMillis} ms of its own computing`,
      ok: holds.all > 0 && tooLong === 0,
      seen: `${saidOf(holds)}; ${slow.join("; ")}`
    },
    { says: "all come to rest", ok: atRest !== undefined, seen: `${seconds} s, ${slow.join("; ")}` },
    { says: "no tick has lost its lease in the middle", ok: torn === 0, seen: `${torn} have` }
  ]
  return { judged, checks, seconds, longest, holds }
}

const oneAfterTheOther = (name: string, only: ReadonlyArray<string> | undefined, isShort: boolean): Attack => ({
  name,
  item: 6,
  says: `${CHARACTERS.toLocaleString("en")} characters of ${only?.length ?? Object.keys(kinds).length} kinds, one message after the other`,
  isShort,
  isTimed: true,
  run: async (scene) => {
    const chosen = Object.entries(kinds)
      .filter(([kind]) => only === undefined || only.includes(kind))
      .map(([kind, text], index) => ({ kind, text, assistant: `a${index}`, id: `long-${index}` }))
    const { checks, judged, longest, seconds } = await attackBy(scene, chosen, { isTogether: false, maxHoldMillis: 50 })
    const says = "requests are answered meanwhile"
    return { ...judged, checks: [...checks, { says, ok: longest < 5_000, seen: `${longest} ms, all in ${seconds} s` }] }
  }
})

/** The run that stood still took several on each message. */
const TOGETHER_SECONDS = 60

const together = (name: string, count: number, isShort: boolean): Attack => ({
  name,
  item: 11,
  says: `a text of many words fills every memory of them, then ${count} assistants get ${CHARACTERS.toLocaleString("en")} characters a@a@... at once`,
  isShort,
  isTimed: true,
  run: async (scene) => {
    const first = {
      kind: "many words",
      text: () => Array.from({ length: 60_000 }, (_, index) => `w${(index * 7_919).toString(36)}x`).join(" "),
      assistant: "desk",
      id: "many"
    }
    const chosen = Array.from({ length: count }, (_, index) => ({
      kind: "a@a@",
      text: () => "a@".repeat(CHARACTERS / 2),
      assistant: `a${index}`,
      id: `at-${index}`
    }))
    const { checks, judged, longest, seconds } = await attackBy(scene, chosen, {
      isTogether: true,
      first,
      maxHoldMillis: 100
    })
    return {
      ...judged,
      checks: [
        ...checks,
        { says: `all is done within ${TOGETHER_SECONDS} s`, ok: seconds < TOGETHER_SECONDS, seen: `${seconds} s` },
        { says: "requests are answered meanwhile within 2 s", ok: longest < 2_000, seen: `${longest} ms` }
      ]
    }
  }
})

export const longTexts: ReadonlyArray<Attack> = [
  oneAfterTheOther("long-texts", undefined, false),
  oneAfterTheOther("three-long-texts", ["a@a@", "letters", "base64"], true),
  together("nineteen-at-once", 19, false),
  together("five-at-once", 5, true)
]
