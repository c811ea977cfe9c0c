// Blocks: the memory blocks of an assistant, while it works.
// Owns reading them at the beginning of a tick, and lending them to a run. Leaves which are shown to `blocks-in-view.ts`,
// every rule about them to the store of blocks.
// I1  A tick is shown one state of its blocks from its first model call to its last; the next tick sees the newest (F86).
// I2  A block that is neither core nor pinned is shown in the ticks whose message refers to it, and in no other (F108).
// I3  A store that can not be read leaves what was last read: a prompt is better with old blocks than without.
// I4  A change is made to what the assistant has last seen of a block, under the key of its run.

import {
  contextOf,
  journalChanges,
  recordReflection,
  reflectionChanges,
  reflectionOf,
  reflectionQuestions,
  reflectionText
} from "@reverie/assistant"
import { type BlockChange, BlockStore, type BlockView } from "@reverie/memory"
import type { BlockAccess } from "@reverie/tools"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { RecordChange } from "@reverie/protocol"
import { inView } from "./blocks-in-view.ts"
import { noteShown, type Session } from "../session/session.ts"
import { journalOn, recordsOf } from "../session/own-records.ts"

/** The most that blocks may take of the context window, as a part of it. */
const BLOCKS_SHARE = 0.25

const viewerOf = ({ address }: Session) => ({ tenant: address.tenant, by: address.assistant })

/** What the message refers to that the tick at hand began with. */
const referredIn = ({ window }: Session): ReadonlyArray<string> =>
  window.messages.findLast(({ role }) => role === "user")?.blocks ?? []

export const refreshBlocks = Effect.fnUntraced(function* (session: Session) {
  const { tick } = contextOf(session.decoded)
  if (session.blocks.tick === tick) return
  const store = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(store)) return
  const known = yield* Effect.option(store.value.list(viewerOf(session)))
  const blocks = inView(
    session.blocks,
    tick,
    Option.getOrElse(known, () => session.blocks.known),
    referredIn(session),
    Math.floor(session.definition.maxContextTokens * BLOCKS_SHARE),
    (text) => session.book.pieceTokens(text, "\n\n")
  )
  noteShown(session, { blocks })
})

const seenIn = (known: ReadonlyArray<BlockView>, id: string) => {
  const seen = known.find((block) => block.id === id)
  return seen === undefined ? {} : { seen: seen.version }
}

/** The blocks as a run of this assistant may use them; nothing where none are kept. */
export const lentBlocks = Effect.fnUntraced(function* (
  session: Session,
  hasConsent: boolean
): Effect.fn.Return<{ readonly blocks?: BlockAccess }> {
  const found = yield* Effect.serviceOption(BlockStore)
  if (Option.isNone(found)) return {}
  const store = found.value
  const viewer = viewerOf(session)
  const run = Effect.runPromiseWith(yield* Effect.context())
  // What the run learns of a block is what its next change is made to.
  const changing = <E>(key: string, change: (asked: Asked) => Effect.Effect<BlockChange, E>) =>
    run(
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeMillis
        const changed = yield* change({ ...viewer, key, at, hasConsent })
        const block = yield* Effect.option(store.load(viewer, changed.block))
        const others = session.blocks.known.filter(({ id }) => id !== changed.block)
        const own = Option.isSome(block) && block.value !== undefined ? [block.value] : []
        noteShown(session, { blocks: { ...session.blocks, known: [...others, ...own] } })
        return changed
      })
    )
  const access: BlockAccess = {
    list: () => run(store.list(viewer)),
    read: (id, version) => run(store.read(viewer, id, version)),
    versions: (id, limit) => run(store.versions(viewer, id, { limit })),
    change: (key, id, operation) =>
      changing(key, (asked) => store.change(id, { ...asked, ...seenIn(session.blocks.known, id) }, operation)),
    undo: (key, id) => changing(key, (asked) => store.undo(id, asked)),
    redo: (key, id) => changing(key, (asked) => store.redo(id, asked)),
    configure: (key, id, setting) => changing(key, (asked) => store.configure(id, asked, setting))
  }
  return { blocks: access }
})

type Asked = ReturnType<typeof viewerOf> & { readonly key: string; readonly at: number; readonly hasConsent: boolean }

// Reflection: what the assistant is asked when it looks back, and what it keeps of the answer.
// R1  The answer that ends a reflection is read for insights once; with or without any, gathering begins anew.

/** The three questions with the evidence for each. */
export const reflectionQuestion = (session: Session): string => {
  const journal = journalOn(session.own)
  const entries = [...journal.entries.values()]
  return entries.length === 0
    ? "Look back on your work. Your journal is still empty: write down what is worth keeping, or call noop."
    : reflectionText(journal, reflectionQuestions(entries))
}

/** What an answer to the questions comes to, and what it changes. */
export const reflected = ({ address, decoded, own }: Session, answer: string, now: number) => {
  const { tick } = contextOf(decoded)
  const before = { journal: journalOn(own), reflection: reflectionOf(recordsOf(own, "reflection")) }
  const { result, state } = recordReflection(before, answer, [address.assistant], { tick, now })
  const records: ReadonlyArray<RecordChange> = [
    ...journalChanges(before.journal, state.journal),
    ...reflectionChanges(before.reflection, state.reflection)
  ]
  return { result, records }
}

/** What the end of a reflection changes; nothing when the tick at hand is none. */
export const insightsOf = (session: Session, answer: string, now: number): ReadonlyArray<RecordChange> =>
  contextOf(session.decoded).contextType === "reflection" ? reflected(session, answer, now).records : []
