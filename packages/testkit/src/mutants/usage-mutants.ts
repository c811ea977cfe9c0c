// Usage mutants: ledgers that bill too much, too little, or another one.

import type { Ledger, UsageQuery, UsageSum } from "@reverie/ledger"
import { addUsed, HOUR_MILLIS, NOTHING_USED, type Used, usedFields } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { MemoryDisk } from "../memory-disk.ts"
import { memoryStore } from "../memory-store.ts"
import type { Mistake } from "./mutant.ts"

type Usage = Ledger["Service"]["usage"]

/** Understands another question. */
const asking =
  (change: (query: UsageQuery) => UsageQuery): Mistake =>
  ({ ledger }) => ({ ledger: { usage: (query) => ledger.usage(change(query)) } })

/** Gives other sums. */
const telling =
  (change: (sum: UsageSum, query: UsageQuery) => UsageSum): Mistake =>
  ({ ledger }) => ({
    ledger: {
      usage: (query) => Effect.map(ledger.usage(query), (sums) => sums.map((sum) => change(sum, query)))
    }
  })

/** Has other entries than were committed. */
const keeping =
  (change: (disk: MemoryDisk) => void): Mistake =>
  (_, disk) => ({
    ledger: {
      usage: (query) =>
        Effect.suspend(() => {
          const view = new MemoryDisk()
          for (const [key, resident] of disk.residents) {
            view.residents.set(key, { ...resident, entries: structuredClone(resident.entries) })
          }
          change(view)
          return memoryStore(view).ledger.usage(query)
        })
    }
  })

const eachEntry = (
  change: (entry: { at: number; step?: { kind: string; name: string; spent?: Array<Record<string, unknown>> } }) => void
) =>
  keeping((disk) => {
    for (const { entries } of disk.residents.values()) for (const { entry } of entries) change(entry as never)
  })

/** Commits, and remembers what the commit said even where it was refused. */
const countingRefused: Mistake = ({ ledger }) => {
  let refused = 0
  return {
    ledger: {
      commit: (claim, commit) => Effect.tapError(ledger.commit(claim, commit), () => Effect.sync(() => void refused++)),
      usage: (query) =>
        Effect.map(ledger.usage(query), (sums) => sums.map((sum) => ({ ...sum, calls: sum.calls + refused })))
    }
  }
}

const late: Mistake = ({ ledger }) => {
  let before: ReadonlyArray<UsageSum> = []
  const usage: Usage = (query) =>
    Effect.map(ledger.usage(query), (sums) => {
      const told = query.by.length === 0 ? before : sums
      before = sums
      return told
    })
  return { ledger: { usage } }
}

/** One mistake for each amount: it is forgotten. */
const forgotten = Object.fromEntries(
  usedFields.map((field: keyof Used) => [`forgets ${field}`, telling((sum) => ({ ...sum, [field]: 0 }))])
)

export const usageMistakes: Readonly<Record<string, Mistake>> = {
  ...forgotten,
  countsRefusedCommits: countingRefused,
  tellsItLate: late,
  forgetsTheTenant: asking(({ tenant: _, ...query }) => query),
  forgetsTheAssistant: asking(({ assistant: _, ...query }) => query),
  forgetsTheFirstHour: asking(({ from, ...query }) => (from === undefined ? query : { ...query, from: from + 1 })),
  takesTheLastHourToo: asking(({ to, ...query }) => (to === undefined ? query : { ...query, to: to + 1 })),
  takesAnyModel: asking(({ model: _, ...query }) => query),
  takesAnyPurpose: asking(({ purpose: _, ...query }) => query),
  ordersTheGreatestByKey: asking(({ order: _, ...query }) => query),
  takesAnyHour: asking(({ from: _, to: _to, ...query }) => query),
  beginsEachPageAnew: asking(({ after: _, ...query }) => query),
  showsLongPages: asking((query) => ({ ...query, limit: 1_000 })),
  showsNothingOfNothing: ({ ledger }) => ({
    ledger: {
      usage: (query) => Effect.map(ledger.usage(query), (sums) => sums.filter(({ calls }) => calls > 0))
    }
  }),
  keepsNoNumber: telling((sum) => ({ ...sum, lastNo: 0 })),
  roundsHoursUp: eachEntry((entry) => {
    entry.at += HOUR_MILLIS / 2
  }),
  takesProfilesForDreams: eachEntry(({ step }) => {
    if (step !== undefined) step.name = step.name.replace("profiling", "linking")
  }),
  takesAllForAnswers: eachEntry(({ step }) => {
    if (step !== undefined) step.kind = "infer"
  }),
  forgetsTheModel: eachEntry(({ step }) => {
    if (!Array.isArray(step?.spent)) return
    for (const row of step.spent) row["model"] = "any"
  }),
  trustsTheFirstModelOnly: eachEntry(({ step }) => {
    if (Array.isArray(step?.spent)) step.spent = step.spent.slice(0, 1)
  }),
  forgetsTheRetired: keeping((disk) => {
    for (const [key, { state }] of disk.residents) if (state.status === "retired") disk.residents.delete(key)
  }),
  ordersHoursAsText: ({ ledger }) => ({
    ledger: {
      usage: (query) =>
        Effect.map(ledger.usage(query), (sums) =>
          sums.toSorted((a, b) => (String(a.key[0]) < String(b.key[0]) ? -1 : 1))
        )
    }
  }),
  addsAllUp: ({ ledger }) => ({
    ledger: {
      usage: (query) =>
        Effect.map(ledger.usage(query), (sums) => {
          const all = sums.reduce((sum, each) => addUsed(sum, each), NOTHING_USED)
          return sums.map((sum) => ({ ...sum, ...all }))
        })
    }
  })
}
