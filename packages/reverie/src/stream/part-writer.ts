// PartWriter: the notices of an assistant as the parts of one message.
// Owns what was shown, what is reported of it when it is durable, and places. Leaves listening and reading the ledger to those who
// tell it.
// P1  What is durable is reported once: by its notice, or by the ledger, whichever is read first. The same notices give the same parts.
// P2  Text, reasoning, and calls that begin are a preview. With `usage`, which ends a model call, the texts and calls that were
//     told since the `usage` before it, and behind the last `discarded`, are exactly the reply of that call.
// P3  A preview of a model call is reported from its beginning or not at all, and after what was committed before it.
// P4  A place stands behind everything that was told: read on from there, nothing durable is reported twice or left out.
// P5  The parts end exactly once.

import {
  addUsed,
  defined,
  type Json,
  type ModelUse,
  NOTHING_USED,
  type Notice,
  noticesOf,
  type Piece,
  type ToolCall,
  type Used
} from "@reverie/protocol"
import type { OutboxRow } from "@reverie/ledger"
import {
  type About,
  awayIn,
  errorOf,
  failedBy,
  haltedBy,
  misshapen,
  type Of,
  type Part,
  spent,
  stopped
} from "./parts.ts"

// Place: how far parts were read, as text: the position of an entry in the outbox, and which of its parts.

type Place = readonly [seq: number, index: number]

const START: Place = [0, 0]

/** The place that a text means; undefined when it means none. */
const placeIn = (text: string): Place | undefined => {
  const [, seq, index] = /^(\d{1,15})\.(\d{1,6})$/.exec(text) ?? []
  return seq === undefined || index === undefined ? undefined : [Number(seq), Number(index)]
}

/** True of a text that says how far parts were read. */
export const isPlace = (text: string): boolean => text === "" || placeIn(text) !== undefined

/** Pieces that wait for what was committed before them. */
const MOST_EARLY = 1_000

const isWithin = ([seq, index]: Place, [until, last]: Place): boolean => seq < until || (seq === until && index <= last)

/** A part, and the place behind it where it is durable. */
export interface Placed {
  /** What comes back for the message. */
  readonly part: Part
  /** For `after` of `fleet.ask`: what stands behind this part. Absent of a preview. */
  readonly place?: string
}

/** A reply as far as it was shown before it was durable. */
interface Shown {
  text: string
  isThought: boolean
  readonly calls: Map<string, string>
}

const nothingShown = (): Shown => ({ text: "", isThought: false, calls: new Map() })

/** The end of a tick that did not fail. */
const endOfTick = ({ misfit = "", outcome, output, parts, refusal = "", reply }: Of<"tick-ended">): Part => {
  if (outcome === "misshapen") return misshapen(reply, misfit)
  if (outcome === "refused") return stopped(outcome, reply, "AnswerRefused", `a hook refused its answer: ${refusal}`)
  if (outcome === "stopped") return stopped(outcome, reply, "TurnStopped", "a person stopped it")
  if (outcome === "max-iterations" || outcome === "cut") return stopped(outcome, reply, ...spent[outcome])
  return { type: "done", outcome, reply, ...defined({ output, parts }) }
}

/** What a team has answered. */
const answerOf = (event: { readonly [key: string]: Json }): Part => {
  const { outcome, text = "" } = event
  if (typeof text !== "string") return failedBy("its answer can not be read")
  return outcome === "failed" ? failedBy(text) : { type: "done", outcome: "answered", reply: text }
}

/** The end that a notice is for those who wait for the answer to an envelope; undefined when it is none. */
const endIn = (notice: Notice, { envelope, isTeam }: About): Part | undefined => {
  switch (notice.type) {
    case "tick-ended":
      if (notice.envelope !== envelope || notice.outcome === "failed") return undefined
      // A team answers when its members have; one that was stopped asks none.
      return isTeam && notice.outcome !== "stopped" ? undefined : endOfTick(notice)
    case "envelope-settled":
      if (notice.envelope !== envelope) return undefined
      // The end of its tick was told before: this is what was only overheard.
      if (notice.outcome === "handled") return isTeam ? undefined : { type: "done", outcome: "noted", reply: "" }
      return failedBy(notice.reason ?? notice.outcome)
    case "emitted":
      return isTeam && notice.event.type === "answered" && notice.event["envelope"] === envelope
        ? answerOf(notice.event)
        : undefined
    default:
      return undefined
  }
}

/** Says which parts the notices of an assistant are for one message. Notices of the ledger come in its order. */
export class PartWriter {
  readonly #about: About
  readonly #after: Place
  readonly #subAgents = new Map<string, string>()
  readonly #asked = new Map<string, string>()
  #place: Place = START
  #shown = nothingShown()
  #sum = NOTHING_USED
  /** Everything up to here was read from the ledger. */
  #read = 0
  #inHand = false
  #replied = 0
  #isHeardWhole: boolean
  /** The model call of which something was not told. */
  #missed = 0
  #early: Array<Of<"part">> = []
  #isOver = false

  /**
   * `after`: the place up to which everything was told; it is given the notices from the beginning all the same. `isNew`: it hears
   * of the message from its beginning.
   */
  constructor(about: About, { after = "", isNew }: { readonly after?: string | undefined; readonly isNew: boolean }) {
    this.#about = about
    this.#after = placeIn(after) ?? START
    this.#isHeardWhole = isNew
  }

  /** The last part has been told: nothing comes behind it. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** A notice as it is heard. */
  heard(notice: Notice): ReadonlyArray<Placed> {
    if (notice.type === "part") return this.#piece(notice)
    if ((notice.seq ?? 0) <= this.#read) return []
    const placed = this.#durable(notice)
    // Whatever begins behind a commit that was heard is heard from its beginning.
    this.#isHeardWhole = true
    return [...placed, ...this.#early.splice(0).flatMap((each) => this.#piece(each))]
  }

  /** An entry of the ledger; they come in its order. */
  read({ address, entry, seq }: OutboxRow): ReadonlyArray<Placed> {
    if (seq <= this.#read) return []
    const placed = noticesOf(address, seq, entry).flatMap((notice) => this.#durable(notice, true))
    this.#read = seq
    return placed
  }

  /** An end that no notice is. */
  end(part: Part): Placed {
    this.#isOver = true
    return { part }
  }

  #piece(notice: Of<"part">): ReadonlyArray<Placed> {
    const { envelope, iteration, piece } = notice
    const { envelope: own, isTeam } = this.#about
    if (envelope !== own || isTeam || this.#isOver || iteration <= this.#replied) return []
    if (piece.kind === "dropped" && iteration === this.#missed) this.#missed = 0
    if (!this.#isHeardWhole) this.#missed = iteration
    if (iteration === this.#missed) return []
    // What was committed before it is still on its way.
    if (!this.#inHand || iteration > this.#replied + 1) {
      if (this.#early.length < MOST_EARLY) this.#early.push(notice)
      else this.#missed = iteration
      return []
    }
    return this.#show(piece)
  }

  #show(piece: Piece): ReadonlyArray<Placed> {
    switch (piece.kind) {
      case "text":
        this.#shown.text += piece.text
        return [{ part: { type: "text", text: piece.text } }]
      case "reasoning":
        this.#shown.isThought = true
        return [{ part: { type: "reasoning", text: piece.text } }]
      case "call":
        this.#shown.calls.set(piece.call, piece.tool)
        return [{ part: { type: "tool-start", call: piece.call, tool: piece.tool } }]
      case "arguments":
        return [{ part: { type: "tool-arguments", call: piece.call, text: piece.text } }]
      case "dropped":
        return this.#discarded()
    }
  }

  /** Takes back what was shown of a reply. */
  #discarded(): ReadonlyArray<Placed> {
    const { calls, isThought, text } = this.#shown
    this.#shown = nothingShown()
    return text === "" && !isThought && calls.size === 0 ? [] : [{ part: { type: "discarded" } }]
  }

  /** `isPast`: a halt of then says nothing of now. */
  #durable(notice: Notice, isPast = false): ReadonlyArray<Placed> {
    if (this.#isOver) return []
    const { envelope } = this.#about
    const { seq = 0 } = notice
    if (seq > this.#place[0]) this.#place = [seq, 0]
    if (notice.type === "tick-started" && notice.envelope === envelope) this.#inHand = true
    const end = endIn(notice, this.#about)
    if (end !== undefined) return [...this.#discarded(), ...this.#last(end)]
    // A halt concerns everyone who waits.
    if (notice.type === "state-changed") {
      const told = notice.status === "halted" ? this.#last(haltedBy(""), isPast) : []
      return isPast ? [] : told
    }
    // What happens in a tick of another envelope is not ours.
    return this.#inHand ? this.#happened(notice) : []
  }

  #happened(notice: Notice): ReadonlyArray<Placed> {
    switch (notice.type) {
      case "model-replied":
        return this.#about.isTeam ? [] : this.#reply(notice)
      case "model-failed": {
        const recovery = notice.recovery === "park" ? "park" : "retry"
        return [
          ...this.#discarded(),
          ...this.#tell({ type: "retry", error: errorOf(notice.reason, "ModelFailed", recovery) })
        ]
      }
      case "tool-finished": {
        const { call, content, ok, tool } = notice
        return this.#tell({ type: "tool-result", tool, call, ok, content })
      }
      case "tool-refused": {
        const { by, call, reason, tool } = notice
        return this.#tell({ type: "tool-refused", tool, call, by, reason })
      }
      case "approval-asked": {
        const { approval, call, tool } = notice
        this.#asked.set(approval, call)
        return this.#tell({ type: "approval", approval, tool, call })
      }
      case "approval-decided":
        return this.#decided(notice)
      case "sub-agent-started": {
        const { call, id, task } = notice
        this.#subAgents.set(call, id)
        return this.#tell({ type: "sub-agent-start", id, call, task })
      }
      case "sub-agent-ended": {
        const { call, end } = notice
        const id = this.#subAgents.get(call)
        return id === undefined ? [] : this.#tell({ type: "sub-agent-end", id, call, end })
      }
      case "emitted":
        return notice.event.type === "model-away" ? [...this.#discarded(), ...this.#tell(awayIn(notice.event))] : []
      default:
        return []
    }
  }

  /** Without a name the oldest one is meant. */
  #decided({ approval: named, decision }: Of<"approval-decided">): ReadonlyArray<Placed> {
    const approval = named ?? [...this.#asked.keys()][0] ?? ""
    const call = this.#asked.get(approval)
    this.#asked.delete(approval)
    return call === undefined ? [] : this.#tell({ type: "approval-decided", approval, call, decision })
  }

  /** A reply, as far as it was not shown; what was shown and is not in it is taken back. */
  #reply({ calls, isWithheld, iteration, spent: uses = [], text, usage }: Of<"model-replied">): ReadonlyArray<Placed> {
    const shown = this.#shown
    this.#replied = iteration
    const said = isWithheld === true ? { text: "", calls: [] } : { text, calls }
    const fits =
      said.text.startsWith(shown.text) &&
      [...shown.calls].every(([call, tool]) => said.calls.some((each) => each.id === call && each.tool === tool))
    const before = fits ? [] : this.#discarded()
    this.#shown = nothingShown()
    const rest = fits ? said.text.slice(shown.text.length) : said.text
    const used = uses.reduce<Used>((sum, use) => addUsed(sum, use), NOTHING_USED)
    const plain = { inputTokens: usage?.inputTokens ?? 0, outputTokens: usage?.outputTokens ?? 0 }
    const took = uses.length > 0 ? used : { ...NOTHING_USED, calls: 1, unpricedCalls: 1, ...plain }
    this.#sum = addUsed(this.#sum, took)
    return this.#tell({ type: "usage", iteration, model: lastModel(uses), ...took }, [
      ...before.map(({ part }) => part),
      ...(rest === "" ? [] : [{ type: "text" as const, text: rest }]),
      ...said.calls.map(callPart)
    ])
  }

  #last(end: Part, isPast = false): ReadonlyArray<Placed> {
    const usage = this.#sum.calls === 0 || end.type === "halted" ? undefined : this.#sum
    const told = this.#tell(usage === undefined ? end : ({ ...end, usage } as Part))
    if (end.type !== "halted" || (told.length > 0 && !isPast)) this.#isOver = true
    return told
  }

  /** A durable part, with what belongs to it before it; nothing where it was read before. */
  #tell(part: Part, before: ReadonlyArray<Part> = []): ReadonlyArray<Placed> {
    const [seq, index] = this.#place
    this.#place = [seq, index + 1]
    if (isWithin(this.#place, this.#after)) return []
    return [...before.map((each) => ({ part: each })), { part, place: `${seq}.${index + 1}` }]
  }
}

const callPart = ({ arguments: args, id, malformed, tool }: ToolCall): Part => ({
  type: "tool-call",
  call: id,
  tool,
  arguments: args,
  ...defined({ malformed })
})

const lastModel = (uses: ReadonlyArray<ModelUse>): string => uses.at(-1)?.model ?? ""
