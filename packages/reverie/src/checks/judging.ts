// Judging: an event before it is accepted.
// Owns whether it is, and the order. Leaves making it durable to the caller, orders about memories to memory-orders.ts.
// J1  An approval that names nothing, an order about a memory that there is none of, a kind of context that there is none of, a form that is
//     asked of a team, and a message to an assistant whose definition is gone are refused before anything is written; what waits is kept.
// J2  An id stands for one message: with another one it is refused, and never taken for an answer to the new one.
// J3  What is sent to one assistant is accepted in the order of the calls, however long each takes to be judged.
// J4  The bytes of its parts are durable before a message is accepted; one that refers to bytes that are not kept is refused.
// J5  Of two decisions about one approval one is accepted: by their id, which is one for an approval; where one was given, by what waits.

import { contextIn, contextTypes } from "@reverie/context"
import { type LoosePart } from "@reverie/ledger"
import {
  type AcceptedEnvelope,
  type Address,
  addressKey,
  type Envelope,
  type Receipt,
  unknownName
} from "@reverie/protocol"
import { isDeepStrictEqual } from "node:util"
import { Mailbox } from "@reverie/mailbox"
import { type Definition, DefinitionMissing } from "@reverie/runtime"
import { ApprovalUnknown, EnvelopeInvalid, IdReused } from "../errors.ts"
import { type FormOption, keepParts } from "../letter.ts"
import type { AskOptions } from "../fleet-options.ts"
import { viewOf } from "../views/view.ts"
import { lettersBy } from "../fleet/dead-letters.ts"
import { type Core } from "../fleet/entry-source.ts"
import { flawOfMemoryOrder } from "./memory-orders.ts"
import { decisionKey } from "../fleet/ordering.ts"

/** What the judging knows of the open fleet. */
export interface Judging {
  readonly core: Core
  readonly definition: { readonly assistants: ReadonlyArray<Definition> }
  /** For the key of an address the name of its definition, which never changes. */
  readonly known: Map<string, string>
  /** For the key of an address the last one that is being judged. */
  readonly turns: Map<string, Promise<void>>
  /** The parts of the message at hand that came with their bytes. */
  readonly loose: ReadonlyArray<LoosePart>
}

const MAX_KNOWN = 100_000

const knownOptions: Readonly<Record<keyof Required<AskOptions>, true>> = {
  id: true,
  from: true,
  blocks: true,
  parts: true,
  traceparent: true,
  context: true,
  output: true,
  signal: true,
  after: true,
  timeoutMs: true
}

/** Throws EnvelopeInvalid about an option that there is none of, or a time that is none. */
export const judgeOptions = (options: AskOptions<FormOption>): void => {
  const strange = Object.keys(options).find((key) => !Object.hasOwn(knownOptions, key))
  const { timeoutMs = 1 } = options
  const message =
    strange === undefined
      ? `timeoutMs must be a whole number of at least 1, and is ${timeoutMs}`
      : `there is no option ${unknownName(strange, Object.keys(knownOptions))}`
  if (strange !== undefined || !Number.isSafeInteger(timeoutMs) || timeoutMs < 1) throw new EnvelopeInvalid({ message })
}

const beginsWork = (event: Envelope["event"]): boolean =>
  event.type === "message" || event.type === "timer" || event.type === "delegate"

const definitionOf = async ({ core, known }: Judging, { to }: Envelope): Promise<string | undefined> => {
  const key = addressKey(to)
  const name = known.get(key) ?? (await core.inspect(to.assistant))?.state.definition
  if (name === undefined) return undefined
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(key, name)
  return name
}

const judgeWork = async (judging: Judging, { event, to }: Envelope): Promise<void> => {
  // A door that was given no definitions at all, like that of a command without a fleet's file, knows none to be missing.
  if (judging.definition.assistants.length === 0) return
  const name = await definitionOf(judging, { event, to } as Envelope)
  if (name === undefined) return
  const definition = judging.definition.assistants.find((each) => each.name === name)
  if (definition === undefined) throw new DefinitionMissing({ address: to, definition: name })
  if (definition.team !== undefined && event.type === "message" && event.output !== undefined) {
    const message = `${to.assistant} is a team, which answers as its members do: ask it without output, or ask one of them`
    throw new EnvelopeInvalid({ message })
  }
  const asked = event.type === "message" || event.type === "timer" ? event.context : undefined
  if (asked === undefined || contextIn(definition, asked) !== undefined) return
  const names = [...new Set([...contextTypes, ...Object.keys(definition.contexts ?? {})])].join(", ")
  throw new EnvelopeInvalid({ message: `${to.assistant} has no context ${JSON.stringify(asked)}; there are ${names}` })
}

const letterOf = async ({ core }: Judging, { id, to }: Envelope): Promise<AcceptedEnvelope | undefined> =>
  (await core.run(lettersBy(to, [id]))).get(id)

const MOST_WAITING = 64

/** Whether a decision waits to be heard. */
const isDecided = async ({ core }: Judging, to: Address, approval: string): Promise<boolean> => {
  const waiting = await core.run(Mailbox.use((mailbox) => mailbox.pending(to, ["reply"], MOST_WAITING)))
  return waiting.some((each) => "event" in each && each.event.type === "approval" && each.event.approval === approval)
}

const decidedBefore = ({ assistant }: Address, approval: string): ApprovalUnknown =>
  new ApprovalUnknown({ assistant, approval, open: [], message: `${assistant}: ${approval} was decided already` })

const judgeApproval = async (judging: Judging, envelope: Envelope): Promise<void> => {
  const { event, to } = envelope
  // One that names none is for what waits; where nothing does, it is on record as ignored, with the reason.
  if (event.type !== "approval" || event.approval === undefined) return
  const record = await judging.core.inspect(to.assistant)
  if (record === undefined) return
  const open = viewOf(record).approvals.map(({ approval }) => approval)
  const { approval } = event
  // The same decision once more is a duplicate, also when it has long been heard.
  if ((await letterOf(judging, envelope)) !== undefined) return
  if (open.includes(approval)) {
    if (await isDecided(judging, to, approval)) throw decidedBefore(to, approval)
    return
  }
  const others = open.length === 0 ? "nothing waits for approval" : `what waits is ${open.join(", ")}`
  const what = `no approval ${JSON.stringify(approval)}`
  throw new ApprovalUnknown({
    assistant: to.assistant,
    approval,
    open,
    message: `${to.assistant} asks for ${what}: ${others}`
  })
}

const judgeMemory = async (judging: Judging, envelope: Envelope): Promise<void> => {
  const flaw = await flawOfMemoryOrder(judging.core, envelope)
  // The same order once more is a duplicate, also when what it was about is gone.
  if (flaw !== undefined && (await letterOf(judging, envelope)) === undefined) throw flaw
}

const judge = async (judging: Judging, envelope: Envelope): Promise<void> => {
  if (beginsWork(envelope.event)) await judgeWork(judging, envelope)
  if (envelope.event.type === "approval") await judgeApproval(judging, envelope)
  await judgeMemory(judging, envelope)
  if (envelope.event.type === "message" && envelope.event.parts !== undefined) {
    await judging.core.run(keepParts(envelope, judging.loose))
  }
}

/** Judges in turn, and begins to accept; waits only for the judging of those before, not for their acceptance. */
const inTurn = async <A>(
  { turns }: Judging,
  to: Envelope["to"],
  judged: () => Promise<void>,
  accept: () => Promise<A>
): Promise<A> => {
  const key = addressKey(to)
  const before = turns.get(key)
  let accepting: Promise<A>
  const turn = (async () => {
    await before?.catch(() => {})
    await judged()
    accepting = accept()
  })()
  turns.set(key, turn)
  try {
    await turn
  } finally {
    if (turns.get(key) === turn) turns.delete(key)
  }
  return accepting!
}

/** A script that is played again may date the same words anew, and a fact is retired once, whatever reason is given again. */
const asTold = (event: Envelope["event"]): object => ({
  ...event,
  at: 0,
  reason: event.type === "retireFact" ? "" : Reflect.get(event, "reason")
})

/** Throws what is wrong with an envelope; `accept` makes it durable. */
export const acceptJudged = async (
  judging: Judging,
  envelope: Envelope,
  accept: () => Promise<Receipt>
): Promise<Receipt> => {
  const { event, from, id, to } = envelope
  const receipt = await inTurn(judging, to, () => judge(judging, envelope), accept)
  if (receipt.outcome === "accepted") return receipt
  const before = await letterOf(judging, envelope)
  const isSame = before?.from === from && isDeepStrictEqual(asTold(before.event), asTold(event))
  if (before === undefined || isSame) return receipt
  if (event.type === "approval" && id === decisionKey(to.assistant, event))
    throw decidedBefore(to, event.approval ?? "")
  const message = `the id ${JSON.stringify(id)} stands for another message to ${to.assistant}; this one was not accepted`
  throw new IdReused({ assistant: to.assistant, id, message })
}
