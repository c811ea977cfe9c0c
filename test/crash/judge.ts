// Judge: what must be true of a data directory after any number of kills.
// Owns the questions. Leaves killing to lane.ts.
// J1  Every acknowledged event was settled exactly once.
// J2  Events of one assistant were taken up in the order in which they were acknowledged.
// J3  No unsafe tool ran twice under one key.
// J4  Every note that was passed on arrived exactly once.
// J5  No tick and no message ended twice, and who asked learnt exactly once how it ended, also where a person stopped it.

import { join } from "node:path"
import { defineAssistant, defineFleet, Fleet, type OutboxRow } from "reverie"
import { ACKS_FILE, ASSISTANTS, EFFECTS_FILE, linesOf, RESUMED_FILE, type eventOf } from "./life.ts"

export interface Verdict {
  readonly acknowledged: number
  readonly commits: number
  readonly effects: number
  readonly lost: number
  readonly duplicated: number
  readonly outOfOrder: number
  readonly repeatedUnsafeTools: number
  readonly interruptedTools: number
  readonly notesLostOrDoubled: number
  /** Ticks that a person stopped. */
  readonly stopped: number
  readonly endedTwice: number
  readonly askersUnanswered: number
  /** Times that a person had to let an assistant go on, and those that no one has. */
  readonly resumed: number
  readonly halted: ReadonlyArray<string>
}

const PAGE = 1_000

const entriesOf = async (fleet: Fleet, id: string): Promise<ReadonlyArray<OutboxRow>> => {
  const rows: Array<OutboxRow> = []
  while (true) {
    const page = await fleet.history.entries(id, rows.length + 1, PAGE)
    rows.push(...page)
    if (page.length < PAGE) return rows
  }
}

const countOf = (values: Iterable<string>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

const outOfOrder = (rows: ReadonlyArray<OutboxRow>): number => {
  const numbers = rows.flatMap(({ entry }) =>
    entry.messages.flatMap((message) => {
      const number = message.role === "user" ? /^do (\d+)$/.exec(message.content)?.[1] : undefined
      return number === undefined ? [] : [Number(number)]
    })
  )
  return numbers.filter((number, index) => index > 0 && number <= numbers[index - 1]!).length
}

/** What no number of kills may bring about. */
export const isClean = ({
  askersUnanswered,
  duplicated,
  endedTwice,
  lost,
  notesLostOrDoubled,
  outOfOrder: reordered,
  repeatedUnsafeTools
}: Verdict): boolean =>
  lost + duplicated + reordered + repeatedUnsafeTools + notesLostOrDoubled + endedTwice + askersUnanswered === 0

/** Of one assistant: ends of ticks, and of messages, beyond the first. */
const endedTwice = (rows: ReadonlyArray<OutboxRow>): number => {
  const ends = rows.flatMap(({ entry: { tick, tickEnd } }) =>
    tickEnd === undefined ? [] : [`tick ${tick}`, `message ${tickEnd.envelope}`]
  )
  return ends.length - new Set(ends).size
}

/** Questions whose answer did not leave exactly once. */
const askersUnanswered = (rows: ReadonlyArray<OutboxRow>): number => {
  const sends = rows.flatMap(({ entry }) => entry.sends ?? [])
  const answers = countOf(
    sends.flatMap(({ event }) =>
      event.type === "message" && event.answers !== undefined ? [event.answers.envelope] : []
    )
  )
  const asked = sends.filter(({ event }) => event.type === "message" && event.wantsAnswer === true)
  return asked.filter(({ id }) => answers.get(id) !== 1).length
}

export interface Judged extends Verdict {
  /** Of each assistant, in order. */
  readonly rows: ReadonlyArray<ReadonlyArray<OutboxRow>>
}

const haltedIn = async (fleet: Fleet): Promise<ReadonlyArray<string>> => {
  const found = await Promise.all(ASSISTANTS.map(async (id) => ({ id, view: await fleet.inspect(id) })))
  return found.flatMap(({ id, view }) =>
    view?.state.status === "halted" ? [`${id}: ${JSON.stringify(view.state).slice(0, 600)}`] : []
  )
}

export const judge = async (data: string): Promise<Verdict> => {
  const { rows: _, ...verdict } = await judged(data)
  return verdict
}

export const judged = async (data: string): Promise<Judged> => {
  await using fleet = await Fleet.open({
    data: join(data, "store"),
    model: "offline",
    fleet: defineFleet({ assistants: ASSISTANTS.map((id) => defineAssistant({ id, instructions: "judged" })) })
  })
  const acknowledged = linesOf(join(data, ACKS_FILE))
  const effects = linesOf(join(data, EFFECTS_FILE))
  const rows = await Promise.all(ASSISTANTS.map((id) => entriesOf(fleet, id)))
  const all = rows.flat()
  const settled = countOf(all.flatMap(({ entry }) => (entry.settled ?? []).map(({ id }) => id)))
  const sent = all.flatMap(({ entry }) => (entry.sends ?? []).map(({ id }) => id))
  const events = new Set(acknowledged)
  return {
    rows,
    acknowledged: events.size,
    commits: all.length,
    effects: effects.length,
    lost: [...events].filter((id) => !settled.has(id)).length,
    duplicated: [...settled].filter(([id, count]) => count > 1 && events.has(id as ReturnType<typeof eventOf>["id"]))
      .length,
    outOfOrder: rows.reduce((sum, each) => sum + outOfOrder(each), 0),
    repeatedUnsafeTools: [...countOf(effects.filter((line) => line.startsWith("ring ")))].filter(
      ([, count]) => count > 1
    ).length,
    interruptedTools: all.filter(({ entry }) => entry.step?.detail?.["failure"] === "interrupted").length,
    resumed: linesOf(join(data, RESUMED_FILE)).length,
    halted: await haltedIn(fleet),
    stopped: all.filter(({ entry }) => entry.tickEnd?.outcome === "stopped").length,
    endedTwice: rows.reduce((sum, each) => sum + endedTwice(each), 0),
    askersUnanswered: askersUnanswered(all),
    notesLostOrDoubled: sent.filter((id) => settled.get(id) !== 1).length
  }
}
