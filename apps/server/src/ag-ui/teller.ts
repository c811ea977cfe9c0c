// Teller: one run of AG-UI, made of what the ledger says of it.
// Owns which events follow from which entry, and that everything that was opened is closed. Leaves reading entries to run.ts.
// T1  The same entries make the same run, whether they are reported as they come or years later; only `part`s make it livelier.
// T2  A message, a reasoning, a tool call and a step that were opened are closed before the run is, and a run ends once.
// T3  What was shown of a reply before it was committed is its beginning, or that message is closed and the committed
//     text comes whole.
// T4  A run that was ended before it was done is an error with its reason, after all that was said in it.

import { defined, type EnvelopeId, type Message, type Piece, type TickEnd } from "@reverie/protocol"
import { activityOf, type Entry } from "reverie"
import { clip, WHOLE_CHARS } from "../views/message-view.ts"
import { type AgUiEvent, custom, snapshotOf, type Usage } from "./events.ts"
import { ShownCalls, ShownThoughts } from "./shown.ts"

// Usages: the tokens that a run has taken, model by model.

const whole = (tokens: number): number => Math.max(0, Math.round(tokens))

class Usages {
  readonly #byModel = new Map<string, Usage>()

  get all(): ReadonlyArray<Usage> {
    return [...this.#byModel.values()]
  }

  add({ step }: Entry): void {
    const { detail, usage } = step ?? {}
    if (usage === undefined) return
    const named = detail?.["model"]
    const model = typeof named === "string" ? named : ""
    const before = this.#byModel.get(model)
    const inputTokens = (before?.inputTokens ?? 0) + whole(usage.inputTokens)
    const outputTokens = (before?.outputTokens ?? 0) + whole(usage.outputTokens)
    this.#byModel.set(model, {
      ...defined({ model: model === "" ? undefined : model }),
      inputTokens,
      outputTokens,
      totalTokens: inputTokens + outputTokens
    })
  }
}

export interface Told {
  /** Of the thread that the caller named. */
  readonly threadId: string
  readonly runId: string
  readonly envelope: EnvelopeId | string
  /** The answer of a team is what it tells when its members have answered. */
  readonly isTeam: boolean
}

export interface OpenApproval {
  readonly approval: string
  readonly tool: string
  readonly call: string
}

/** Why an answer is not whole, by the outcome of its tick. */
const stopReasons: Readonly<Record<string, string>> = {
  "max-iterations": "it made as many model calls as one tick may, and was not done",
  cut: "its budget was used up before it was done",
  misshapen: "its answer has another form than it must have",
  stopped: "a person stopped it",
  refused: "a hook let its answer not pass"
}

const APPROVAL_REASON = "tool_approval"
/** A person is asked. */
export const isAsking = (status: string): boolean => activityOf(status) === "awaitingApproval"

/** Where a tick is, in the words of the statechart: `thinking`, `acting`, `awaitingApproval`, … */
const phaseOf = (status: string): string => {
  const [first = "", second] = status.split(".")
  return first === "awake" ? (second ?? first) : first
}

export class Teller {
  readonly #told: Told
  readonly #usages = new Usages()
  readonly #shown: ShownCalls
  readonly #thoughts: ShownThoughts
  readonly #calls = new Set<string>()
  readonly #expiries = new Map<string, number>()
  readonly #texts: Array<string> = []
  #status = ""
  #step: string | undefined
  #messages = 0
  #open: { readonly id: string; readonly text: string } | undefined
  /** The text of the reply at hand, which a call that begins has ended. */
  #before: { readonly id: string; readonly text: string } | undefined
  #isOver = false

  constructor(told: Told) {
    this.#told = told
    this.#shown = new ShownCalls(told.envelope)
    this.#thoughts = new ShownThoughts(told.envelope)
  }

  get isOver(): boolean {
    return this.#isOver
  }

  begin(status: string): ReadonlyArray<AgUiEvent> {
    const { envelope, runId, threadId } = this.#told
    this.#status = status
    return [
      { type: "RUN_STARTED", threadId, runId },
      { type: "STATE_SNAPSHOT", snapshot: snapshotOf(status, 0, envelope) }
    ]
  }

  /** A piece of a reply that is being written. */
  part(text: string): ReadonlyArray<AgUiEvent> {
    if (this.#isOver || text === "") return []
    const started = this.#open === undefined ? this.#startMessage() : []
    const { id, text: before } = this.#open ?? { id: "", text: "" }
    this.#open = { id, text: before + text }
    return [...started, { type: "TEXT_MESSAGE_CONTENT", messageId: id, delta: text }]
  }

  /** A piece of a reply that is being made. */
  piece(piece: Piece, at: number): ReadonlyArray<AgUiEvent> {
    if (this.#isOver) return []
    switch (piece.kind) {
      case "text":
        return [...this.#thoughts.close(), ...this.part(piece.text)]
      case "reasoning":
        return this.#thoughts.say(piece.text)
      case "call":
        return this.#beginCall(piece.call, piece.tool, at)
      case "arguments":
        return this.#shown.goOn(piece.call, piece.text)
      case "dropped":
        this.#before = undefined
        return [...this.#closeMessage(), ...this.#shown.drop()]
    }
  }

  /** Everything that one entry of the run says. */
  entry(entry: Entry): ReadonlyArray<AgUiEvent> {
    if (this.#isOver) return []
    this.#usages.add(entry)
    const events = [
      ...entry.messages.flatMap((message, index) => this.#said(message, `${entry.no}/${index}`, entry.at)),
      // A reply that was not committed is none.
      ...(entry.step?.kind === "infer" ? [...this.#closeMessage(), ...this.#shown.drop()] : []),
      ...this.#emitted(entry),
      ...this.#moved(entry)
    ]
    if (entry.step?.kind === "infer") this.#before = undefined
    const end = this.#endIn(entry)
    return end === undefined ? events : [...events, ...end]
  }

  /** Nothing more is in the ledger: an assistant that waits for a person, or is halted, goes on only when someone acts. */
  caughtUp(status: string, approvals: ReadonlyArray<OpenApproval>): ReadonlyArray<AgUiEvent> {
    if (this.#isOver) return []
    const asked = approvals.filter(({ call }) => this.#calls.has(call))
    if (isAsking(status) && asked.length > 0) return this.#interrupted(asked)
    return status === "halted" ? this.failed("it is halted; the run goes on when it is asked to resume", "halted") : []
  }

  failed(message: string, code: string): ReadonlyArray<AgUiEvent> {
    return this.#over({ type: "RUN_ERROR", message, code, ...this.#usage() })
  }

  #startMessage(): ReadonlyArray<AgUiEvent> {
    const id = `${this.#told.envelope}/${++this.#messages}`
    this.#open = { id, text: "" }
    return [{ type: "TEXT_MESSAGE_START", messageId: id, role: "assistant" }]
  }

  #closeMessage(): ReadonlyArray<AgUiEvent> {
    const before = this.#thoughts.close()
    if (this.#open === undefined) return before
    const { id } = this.#open
    this.#open = undefined
    return [...before, { type: "TEXT_MESSAGE_END", messageId: id }]
  }

  /** The text that was told ends before its calls, as it does when it is reported later. */
  #beginCall(call: string, tool: string, timestamp: number): ReadonlyArray<AgUiEvent> {
    this.#before ??= this.#open
    const beside = { timestamp, ...defined({ parentMessageId: this.#before?.id }) }
    return [...this.#closeMessage(), ...this.#shown.begin(call, tool, beside)]
  }

  #wholeText(text: string): ReadonlyArray<AgUiEvent> {
    const shown = this.#open?.text ?? this.#before?.text ?? ""
    this.#before = undefined
    if (text === "" || text === shown) {
      if (text !== "") this.#texts.push(text)
      return this.#closeMessage()
    }
    const fits = text.startsWith(shown)
    const before = fits ? [] : this.#closeMessage()
    const rest = this.part(fits ? text.slice(shown.length) : text)
    this.#texts.push(text)
    return [...before, ...rest, ...this.#closeMessage()]
  }

  #said(message: Message, place: string, at: number): ReadonlyArray<AgUiEvent> {
    const { call, calls = [], content, meta, role } = message
    if (role === "assistant") {
      if (meta?.["type"] === "withheld") return this.#closeMessage()
      const parent = `${this.#told.envelope}/${this.#messages + (this.#open === undefined && this.#before === undefined && content !== "" ? 1 : 0)}`
      return [
        ...this.#wholeText(content),
        ...this.#shown.drop(calls),
        ...calls.flatMap((each): ReadonlyArray<AgUiEvent> => {
          this.#calls.add(each.id)
          const parentMessageId = content === "" ? undefined : parent
          return this.#shown.whole(each, { timestamp: at, ...defined({ parentMessageId }) })
        })
      ]
    }
    if (role !== "tool" || call === undefined || !this.#calls.has(call)) return []
    const result = {
      messageId: `${this.#told.envelope}/result/${place}`,
      toolCallId: this.#shown.idOf(call),
      role: "tool" as const
    }
    return [{ type: "TOOL_CALL_RESULT", ...result, content: clip(content, WHOLE_CHARS), timestamp: at }]
  }

  #emitted({ at, emitted = [] }: Entry): ReadonlyArray<AgUiEvent> {
    return emitted.flatMap((event): ReadonlyArray<AgUiEvent> => {
      if (event.type === "model-away") return [custom("model-away", event)]
      if (event.type !== "approval-asked") return []
      const { approval, withinMs } = event
      if (typeof approval === "string" && typeof withinMs === "number") this.#expiries.set(approval, at + withinMs)
      return [custom("approval-asked", event)]
    })
  }

  #moved({ status, tick }: Entry): ReadonlyArray<AgUiEvent> {
    if (status === this.#status) return []
    this.#status = status
    const phase = phaseOf(status)
    const delta = [
      { op: "replace" as const, path: "/status", value: status },
      { op: "replace" as const, path: "/tick", value: tick }
    ]
    const isSame = phase === this.#step
    const ended = isSame ? [] : this.#endStep()
    if (!isSame && phase !== "idle") this.#step = phase
    const begun: ReadonlyArray<AgUiEvent> =
      isSame || phase === "idle" ? [] : [{ type: "STEP_STARTED", stepName: phase }]
    return [...ended, { type: "STATE_DELTA", delta }, ...begun]
  }

  #endStep(): ReadonlyArray<AgUiEvent> {
    if (this.#step === undefined) return []
    const stepName = this.#step
    this.#step = undefined
    return [{ type: "STEP_FINISHED", stepName }]
  }

  #endIn({ emitted = [], settled = [], tickEnd }: Entry): ReadonlyArray<AgUiEvent> | undefined {
    const { envelope, isTeam } = this.#told
    if (isTeam) {
      const answer = emitted.find((event) => event.type === "answered" && event["envelope"] === envelope)
      if (answer !== undefined) {
        const text = typeof answer["text"] === "string" ? answer["text"] : ""
        return answer["outcome"] === "failed" ? this.failed(text, "failed") : this.#finished("answered", text)
      }
    } else if (tickEnd?.envelope === envelope && tickEnd.outcome !== "failed") {
      return this.#finished(tickEnd.outcome, tickEnd.reply, tickEnd)
    }
    const end = settled.find(({ id }) => id === envelope)
    if (end === undefined) return undefined
    if (end.outcome !== "handled") return this.failed(end.reason ?? end.outcome, end.outcome)
    return isTeam ? undefined : this.#finished("noted", "")
  }

  #finished(
    outcome: string,
    reply: string,
    { misfit, output, refusal }: Pick<TickEnd, "misfit" | "output" | "refusal"> = {}
  ): ReadonlyArray<AgUiEvent> {
    // What was said by a tool, or by the members of a team, was no message of the model.
    const isNew = reply !== "" && !this.#texts.includes(reply) && this.#texts.join("\n\n") !== reply
    const { runId, threadId } = this.#told
    const said = [...this.#closeMessage(), ...(isNew ? this.#wholeText(reply) : [])]
    const why = stopReasons[outcome]
    const result = { outcome, reply, ...defined({ output }) }
    if (why !== undefined) {
      const more = misfit ?? refusal
      const message = more === undefined ? why : `${why}: ${more}`
      return [...said, ...this.#over({ type: "RUN_ERROR", message, code: outcome, result, ...this.#usage() })]
    }
    return [
      ...said,
      ...this.#over({
        type: "RUN_FINISHED",
        threadId,
        runId,
        result,
        outcome: { type: "success" },
        ...this.#usage()
      })
    ]
  }

  #interrupted(approvals: ReadonlyArray<OpenApproval>): ReadonlyArray<AgUiEvent> {
    const { runId, threadId } = this.#told
    const interrupts = approvals.map(({ approval, call, tool }) => {
      const expiresAt = this.#expiries.get(approval)
      return {
        id: approval,
        reason: APPROVAL_REASON,
        message: `${tool} waits for a person to approve it`,
        toolCallId: this.#shown.idOf(call),
        ...defined({ expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString() })
      }
    })
    const pendingToolCallIds = approvals.map(({ call }) => this.#shown.idOf(call))
    const outcome = { type: "interrupt" as const, interrupts, pendingToolCallIds }
    return this.#over({ type: "RUN_FINISHED", threadId, runId, outcome, ...this.#usage() })
  }

  #usage(): { readonly usage?: ReadonlyArray<Usage> } {
    const usage = this.#usages.all
    return usage.length === 0 ? {} : { usage }
  }

  #over(last: AgUiEvent): ReadonlyArray<AgUiEvent> {
    if (this.#isOver) return []
    const events = [...this.#closeMessage(), ...this.#shown.drop(), ...this.#endStep(), last]
    this.#isOver = true
    return events
  }
}
