// Consolidating: journal and conversation become facts, a batch a step (F49).
// Owns which batch is next and what is written with it. Leaves asking, reading and routing to `memory`.
// C1  A batch is read once: its facts, the importance of its entries, and the mark of how far the dream has come leave
//     with one commit.
// C2  An entry that a person weighed keeps its importance; what a heuristic guessed is replaced by what the model says.
// C3  A batch that the model refuses for itself is passed over, and the report says so.

import { contextOf, type Journal, journalChanges, markConsolidated, personaRejection } from "@reverie/assistant"
import {
  applyRoutes,
  consolidateAsk,
  type Consolidated,
  type Fact,
  factIndex,
  keyOfId,
  type Lived,
  readConsolidated,
  readRoutes,
  type Route,
  routeAsk,
  routeQuestions
} from "@reverie/memory"
import type { Reply } from "@reverie/model"
import type { Ask, RecordChange, Usage } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { journalOn } from "../own-records.ts"
import type { Session } from "../session.ts"
import { factChange, factsOf } from "./known.ts"
import { cursorChange, firstBatch, undigestedEntries, undigestedMessages } from "./lived.ts"
import { askModel, type DreamStep, nothingToDo } from "./step.ts"

/** A batch, what says that it was read, and whether another one follows. */
interface Batch {
  readonly items: ReadonlyArray<Lived>
  readonly marks: (consolidated: Consolidated) => ReadonlyArray<RecordChange>
  readonly more: boolean
}

const NOTHING_READ: Consolidated = { scored: new Map(), proposed: [], dropped: [] }

const weighed = (journal: Journal, { scored }: Consolidated): Journal => {
  const entries = new Map(journal.entries)
  for (const [id, importance] of scored) {
    const entry = entries.get(keyOfId(id) ?? "")
    if (entry === undefined || entry.importance_method === "manual") continue
    entries.set(entry.id, { ...entry, importance, importance_method: "llm" })
  }
  return { ...journal, entries }
}

/** The journal goes first: it holds what the assistant itself found worth writing down. */
const nextBatch = Effect.fnUntraced(function* (session: Session) {
  const pending = undigestedEntries(session)
  const journal = journalOn(session.own)
  const passed = journalChanges(journal, markConsolidated(journal, pending.passed))
  if (pending.items.length > 0) {
    const items = firstBatch(pending.items)
    const ids = [...pending.passed, ...items.map(({ id }) => keyOfId(id) ?? "")]
    const batch: Batch = {
      items,
      marks: (consolidated) => journalChanges(journal, markConsolidated(weighed(journal, consolidated), ids)),
      more: true
    }
    return batch
  }
  const { items, more, moved, next } = yield* undigestedMessages(session)
  const batch: Batch = { items, marks: () => [...passed, ...(moved ? [cursorChange(next)] : [])], more }
  return batch
})

const routed = Effect.fnUntraced(function* (
  session: Session,
  facts: ReadonlyMap<string, Fact>,
  { proposed }: Consolidated,
  usage: Array<Usage>
) {
  const questions = routeQuestions(factIndex(facts.values()), facts.values(), proposed)
  const ask = routeAsk(questions)
  if (ask === undefined) return []
  const reply = yield* askModel(session, ask)
  usage.push(reply.usage)
  const routes: ReadonlyArray<Route> = readRoutes(reply.text, questions).routes
  return routes
})

interface Answered {
  readonly reply?: Reply
  /** Why the model would not read this batch. */
  readonly refused?: string
}

const UNASKED: Answered = {}

/** A batch that the model refuses for itself would be refused every night, and nothing behind it would ever be read. */
const asked = (session: Session, ask: Ask) =>
  askModel(session, ask).pipe(
    Effect.map((reply): Answered => ({ reply })),
    Effect.catchTag("ModelRefused", ({ message }) => Effect.succeed<Answered>({ refused: message }))
  )

const noteOf = (heldBack: number, refused: string | undefined): { readonly note?: string } => {
  const notes = [
    ...(heldBack === 0 ? [] : [`${heldBack} held back`]),
    ...(refused === undefined ? [] : [`passed over, the model refused it: ${refused}`])
  ]
  return notes.length === 0 ? {} : { note: notes.join("; ") }
}

export const consolidating = Effect.fnUntraced(function* (session: Session) {
  const { items, marks, more } = yield* nextBatch(session)
  if (items.length === 0) return nothingToDo("nothing has been lived through since the last dream", marks(NOTHING_READ))
  const usage: Array<Usage> = []
  const names = [session.address.assistant]
  const refuses = (text: string) => personaRejection(text, names)
  const ask = consolidateAsk(items)
  const { reply, refused } = ask === undefined ? UNASKED : yield* asked(session, ask)
  if (reply !== undefined) usage.push(reply.usage)
  const consolidated = readConsolidated(reply?.text ?? "", items, refuses)
  const facts = yield* factsOf(session)
  const routes = yield* routed(session, facts, consolidated, usage)
  const moment = { tick: contextOf(session.decoded).tick, now: yield* Clock.currentTimeMillis }
  const { added, changed, quarantined } = applyRoutes(facts.values(), consolidated.proposed, routes, moment)
  const step: DreamStep = {
    read: items.length,
    proposed: consolidated.proposed.length + consolidated.dropped.length,
    accepted: added.length,
    records: [...changed.map(factChange), ...marks(consolidated)],
    usage,
    more,
    ...noteOf(quarantined.length, refused)
  }
  return step
})
