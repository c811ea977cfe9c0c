// MonthsLife: what one child process of the months lane does until it is killed: rounds of talk, dream, archiving and forgetting.
// Owns the rounds and the lines of evidence. Leaves the place of a kill to months-child.ts, judging to months-judge.ts.
// M1  A line of evidence is on the disk before what it announces and after what it witnesses; none holds a word that is forgotten.
// M2  Anyone who runs this again on the same directory goes on in the round that was broken off, at the hour of that round.

import { appendFileSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Fleet, Forgettable } from "reverie"
import { SLEEPER } from "./night-life.ts"

/** What the process does, as a kill names it. */
export type Stage = "talk" | "dream" | "archive" | "forget"

const HOUR_MILLIS = 3_600_000
const BEGIN = Date.UTC(2026, 2, 14, 9)

export const hourOf = (round: number): number => BEGIN + round * HOUR_MILLIS

interface Letter {
  readonly id: string
  readonly round: number
  readonly from: string
  readonly text: string
  /** A word that stands in this message and in no other. */
  readonly canary: string
}

/** One kind of forgetting in each round. */
export const kinds = ["person", "message", "span", "text", "topic"] as const

const names = ["Quill", "Rosa", "Sten", "Tilda", "Una"] as const
const places = ["the north mole", "pier 3", "the old lighthouse", "the harbour office"] as const

/** Of each round the first message is forgotten, and with it what its kind reaches. */
const lettersOf = (round: number): ReadonlyArray<Letter> =>
  ["first", "second", "third"].map((which, index) => {
    const canary = `zq${kinds[round]}${which}`
    const from = index === 0 ? (names[round] ?? "Quill") : "Dora"
    return {
      id: `letter-${round}-${index}`,
      round,
      from,
      canary,
      text: `My sister lives in ${canary}. I signed for ${round + index + 2} tons of salt at ${places[index]}.`
    }
  })

export const letters: ReadonlyArray<Letter> = kinds.flatMap((_, round) => lettersOf(round))

/** The messages that the forgetting of a round reaches. */
export const reachedBy = (round: number): ReadonlyArray<Letter> =>
  kinds[round] === "span" ? lettersOf(round) : lettersOf(round).slice(0, 1)

const EVIDENCE_FILE = "evidence.txt"

const linesIn = (data: string): ReadonlyArray<string> => {
  const file = join(data, EVIDENCE_FILE)
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : []
}

const write = (data: string, line: string): void =>
  appendFileSync(join(data, EVIDENCE_FILE), `${line}\n`, { flush: true })

/** What the process has been answered so far. */
export const evidenceIn = (data: string) => {
  const lines = linesIn(data)
  const after = (word: string): ReadonlySet<string> =>
    new Set(lines.flatMap((line) => (line.startsWith(`${word} `) ? [line.slice(word.length + 1)] : [])))
  return {
    acknowledged: after("acknowledged"),
    asked: after("asked"),
    receipts: after("receipt"),
    rounds: after("round")
  }
}

const saidIn = async (fleet: Fleet, canary: string) => {
  const entries = await fleet.history.entries(SLEEPER, 1, 100_000)
  const found = entries.find(({ entry }) =>
    entry.messages.some(({ content, role }) => role === "user" && content.includes(canary))
  )
  if (found === undefined) return undefined
  const index = found.entry.messages.findIndex(({ content }) => content.includes(canary))
  return { place: `m/${found.entry.no}/${index}`, at: found.entry.at, newestAt: entries.at(-1)?.entry.at ?? 0 }
}

/** Undefined where it is there no more: a process before this one was killed between forgetting it and its receipt. */
const forgettableOf = async (fleet: Fleet, round: number): Promise<Forgettable | undefined> => {
  const [{ canary, from }] = lettersOf(round) as [Letter]
  const said = await saidIn(fleet, canary)
  switch (kinds[round]) {
    case "person":
      return { person: from, assistant: SLEEPER }
    case "span":
      return said && { since: said.at, until: said.newestAt, assistant: SLEEPER }
    case "text":
      return { text: canary }
    case "topic":
      return { topic: `the sisters of ${canary}` }
    default:
      return said && { assistant: SLEEPER, messages: [said.place] }
  }
}

interface Says {
  readonly hour: (round: number) => void
  readonly stage: (stage: Stage, round: number) => void
}

/** Up to the forgetting of the round. What was forgotten is not said again: it would be another message under the same id. */
const talkAndDream = async (fleet: Fleet, data: string, round: number, { stage }: Says): Promise<void> => {
  const { acknowledged, asked } = evidenceIn(data)
  if (asked.has(String(round))) return
  stage("talk", round)
  await fleet.wake(SLEEPER, `round ${round}`, { id: `wake-${round}` })
  for (const { from, id, text } of lettersOf(round)) {
    if (acknowledged.has(id)) continue
    await fleet.post(SLEEPER, { type: "message", text, at: hourOf(round) }, { id, from })
    write(data, `acknowledged ${id}`)
    await fleet.idle()
  }
  stage("dream", round)
  await fleet.sleep(SLEEPER, { id: `sleep-${round}`, forMs: HOUR_MILLIS / 2 })
  await fleet.idle()
  stage("archive", round)
  await fleet.vacuum()
  write(data, `asked ${round}`)
}

/** Lives through what is left of the rounds, and says each stage before it begins. */
export const liveMonths = async (fleet: Fleet, data: string, says: Says): Promise<void> => {
  for (const [round] of kinds.entries()) {
    if (evidenceIn(data).rounds.has(String(round))) continue
    says.hour(round)
    await talkAndDream(fleet, data, round, says)
    says.stage("forget", round)
    const what = await forgettableOf(fleet, round)
    if (what !== undefined) await fleet.forget(what)
    write(data, `receipt ${round}`)
    await fleet.idle()
    write(data, `round ${round}`)
  }
}
