// Facts: what a person says of what an assistant knows: that a fact is wrong, what is right in its place, or one more.
// W1  The order is durable when the command ends with 0; the assistant hears it at rest.

import { defined } from "@reverie/protocol"
import { CommandFailed } from "../../failure.ts"
import { named } from "../../named.ts"
import { say, sayJson } from "../../output.ts"
import { findBackend } from "../../backend/find-backend.ts"
import type { Backend } from "../../backend/backend.ts"
import type { Stop } from "../../running/stop.ts"
import { onOneLine, plain } from "../../texts/plain.ts"
import { assertConsent } from "../../consent.ts"
import { followed, type OrderOptions } from "./orders.ts"

const knownFact = async (backend: Backend, id: string, fact: string) => {
  const known = (await backend.facts(id)).find((each) => each.id === fact)
  if (known !== undefined) return known
  throw new CommandFailed("not-found", `${id} knows no fact ${fact}`, { hint: `reverie memory ${id} facts lists them` })
}

/** Retires a fact: a person says that it does not hold. */
export const retire = async (
  name: string,
  fact: string,
  options: OrderOptions & { readonly reason?: string },
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const known = await knownFact(backend, id, fact)
  const told = `${fact}: ${onOneLine(known.text, 80)}`
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { retire: fact }, assistant: id })
    else say(plain(`would retire ${told}`))
    return 0
  }
  await assertConsent(options, `${id} would believe no more ${told}`)
  const payload = defined({ reason: options.reason })
  const { envelope, outcome } = await backend.memory((api) => api.retireFact({ params: { id, fact }, payload }))
  await followed(backend, id, options)
  if (options.json) sayJson({ ok: true, receipt: outcome, envelope, assistant: id, retired: fact })
  else say(plain(`${id} retires, at rest, ${told}`))
  return 0
}

/** Writes a fact: in the place of a wrong one, or beside all others. */
export const write = async (
  name: string,
  fact: string | undefined,
  text: string,
  options: OrderOptions,
  stop: Stop
): Promise<number> => {
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const known = fact === undefined ? undefined : await knownFact(backend, id, fact)
  const told = `${onOneLine(text, 80)}${known === undefined ? "" : ` (in the place of ${known.id}: ${onOneLine(known.text, 80)})`}`
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { write: text, ...defined({ fact }) }, assistant: id })
    else say(plain(`would write ${told}`))
    return 0
  }
  const headers = defined({ "idempotency-key": options.id })
  const payload = { text }
  const { envelope, outcome } = await backend.memory((api) =>
    fact === undefined
      ? api.addFact({ params: { id }, headers, payload })
      : api.correctFact({ params: { id, fact }, headers, payload })
  )
  await followed(backend, id, options)
  if (options.json) sayJson({ ok: true, receipt: outcome, envelope, assistant: id, ...defined({ corrected: fact }) })
  else say(plain(`${id} knows, at rest, ${told}`))
  return 0
}

export interface ProfileOptions extends OrderOptions {
  readonly attribute?: string
  readonly remove?: boolean
  readonly undo?: boolean
}

/** Says what an order to write into a profile would do; throws about one that says too much or too little. */
const requestOf = (entity: string, text: string | undefined, { attribute, remove, undo }: ProfileOptions): string => {
  const said = [text !== undefined, remove === true, undo === true].filter(Boolean).length
  if (said !== 1) throw new CommandFailed("usage", "say a text, --remove or --undo, and one of them alone")
  if (attribute === undefined && text === undefined) throw new CommandFailed("usage", "--attribute says which is meant")
  const which = attribute === undefined ? entity : `${entity}/${attribute}`
  return text === undefined
    ? `${remove === true ? "remove" : "take back"} ${which}`
    : `write ${which}: ${onOneLine(text, 80)}`
}

/** Writes into the profile of someone: one more attribute, another text of one, none, or what stood there before. */
export const profile = async (
  name: string,
  entity: string,
  text: string | undefined,
  options: ProfileOptions,
  stop: Stop
): Promise<number> => {
  const request = requestOf(entity, text, options)
  await using backend = await findBackend(options, "order", stop)
  const { id } = await named(backend, name)
  const { attribute, undo } = options
  const payload = defined({ attribute, text, undo: undo === true ? undo : undefined })
  if (options.dryRun) {
    if (options.json) sayJson({ ok: true, dryRun: true, would: { entity, ...payload }, assistant: id })
    else say(plain(`would ${request}`))
    return 0
  }
  const headers = defined({ "idempotency-key": options.id })
  const { envelope, outcome } = await backend.memory((api) =>
    api.writeProfile({ params: { id, entity }, headers, payload })
  )
  await followed(backend, id, options)
  if (options.json) sayJson({ ok: true, receipt: outcome, envelope, assistant: id, entity })
  else say(plain(`${id} will, at rest, ${request}`))
  return 0
}
