// Linking: facts that explain each other are tied together, a batch a step (F49, A-MEM).
// Owns the batches. Leaves neighbours, the ask and the links to `memory`.

import { applyLinks, factIndex, linkAsk, linkQuestions, readLinks } from "@reverie/memory"
import * as Effect from "effect/Effect"
import type { Session } from "../session.ts"
import { factChange, factsOf } from "./known.ts"
import { askModel, type DreamStep, nothingToDo } from "./step.ts"

const BATCH = 20

export const linking = Effect.fnUntraced(function* (session: Session) {
  const facts = yield* factsOf(session)
  const all = linkQuestions(factIndex(facts.values()), facts.values(), BATCH + 1)
  if (all.length === 0) return nothingToDo("there are no new facts")
  const questions = all.slice(0, BATCH)
  const ask = linkAsk(questions)
  const reply = ask === undefined ? undefined : yield* askModel(session, ask)
  const { dropped, links } = readLinks(reply?.text ?? "", questions)
  const { changed, made } = applyLinks(facts.values(), questions, links)
  const step: DreamStep = {
    read: questions.length,
    proposed: links.length + dropped,
    accepted: made,
    records: changed.map(factChange),
    usage: reply === undefined ? [] : [reply.usage],
    more: all.length > BATCH
  }
  return step
})
