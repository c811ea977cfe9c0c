// Sends: the messages one run wants to leave with its result.
// Owns their envelopes and the refusal of what can not be sent. Leaves making them durable to the commit.
// I1  The id of a send is a pure function of the key and its place, so a repeated attempt sends nothing twice.
// I2  After the run has ended nothing is taken any more.
// I3  Whom the post refuses gets nothing: the run learns why, and when it may go on.

import { createHash } from "node:crypto"
import type { Reached } from "@reverie/assistant"
import {
  type Address,
  AssignmentRequest,
  AssistantId,
  assistantSender,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  EnvelopeId,
  type Json,
  MAX_MESSAGE_CHARS,
  MAX_TASK_CHARS,
  type RecordChange,
  type RecordKind
} from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type LoopState, MAX_SENDS, type SendingOptions, type Tool, type ToolRecords, type ToolRun } from "../tool.ts"
import { selfTool, text } from "../self/self-tool.ts"
import { noBlocks } from "../blocks/outcome.ts"
import type { Watch } from "../run-place.ts"
import { defineTool } from "../define.ts"

/** What a sender may know of the others. */
export interface Post {
  readonly reach: (target: string) => Reached
  /** Why a message may not go now, and when it may; undefined when it may. `more` go before it in the same run. */
  readonly refusal: (to: string, more: number) => { readonly reason: string; readonly retryAt: number } | undefined
}

export interface Sender {
  readonly address: Address
  /** Without it no one is refused, and no one is found but by id. */
  readonly post?: Post
  readonly key: string
  /** Of the envelope in hand. */
  readonly hops: number
  readonly traceparent?: string
}

export interface Sends {
  readonly send: ToolRun["send"]
  /** Closes the door and gives what was sent. */
  readonly close: () => ReadonlyArray<Envelope>
}

const none: ReadonlyArray<Envelope> = Object.freeze([])
const decodeAssistantId = Schema.decodeUnknownOption(AssistantId)

export const openSends = (sender: Sender): Sends => {
  let sent: Array<Envelope> | undefined
  let open = true
  return {
    send: (to, text, options) => {
      if (!open) throw new Error("send was called after the run had ended; the message was not sent")
      const envelope = envelopeOf(sender, sent?.length ?? 0, to, text, options)
      const before = sent?.filter((each) => each.to.assistant === to).length ?? 0
      const refusal = sender.post?.refusal(to, before)
      if (refusal !== undefined) throw new Error(refusal.reason)
      sent ??= []
      sent.push(envelope)
    },
    close: () => {
      open = false
      return sent ?? none
    }
  }
}

const envelopeOf = (
  sender: Sender,
  index: number,
  to: string,
  text: string,
  { wantsAnswer = false }: SendingOptions = {}
): Envelope => {
  if (index >= MAX_SENDS) throw new Error(`a run can send at most ${MAX_SENDS} messages`)
  const assistant = Option.getOrUndefined(decodeAssistantId(to))
  if (assistant === undefined) throw new Error("send needs the id of an assistant as its first argument")
  if (typeof text !== "string") throw new Error("send needs a text as its second argument")
  if (text.length > MAX_MESSAGE_CHARS) throw new Error(`a message can have at most ${MAX_MESSAGE_CHARS} characters`)
  const { address, hops, key, traceparent } = sender
  return {
    v: ENVELOPE_VERSION,
    id: EnvelopeId.make(`${shortKey(key)}#${index}`),
    to: { tenant: address.tenant, assistant },
    from: assistantSender(address.assistant),
    event: { type: "message", text, ...defined({ wantsAnswer: wantsAnswer ? wantsAnswer : undefined }) },
    hops: hops + 1,
    ...defined({ traceparent })
  }
}

// An envelope id has 256 characters at most; a longer key keeps its identity as a hash.
const shortKey = (key: string): string => (key.length <= 248 ? key : createHash("sha256").update(key).digest("hex"))

// DelegateTools: delegate_task, cancel_task, task_status.
// D1  delegate_task is ASYNC_REQUIRED: the report of the sub-agent answers it, or a refusal that says what to do instead.
// D2  A task that is written to the records is asked to be handed on; one that is taken away there is asked to be ended.
// D3  Limits can only narrow what would be granted without them.

/** Tools that are of no use where no sub-agents are allowed. */
export const delegateToolNames: ReadonlySet<string> = new Set(["delegate_task", "cancel_task", "task_status"])

const { calls, insulation, specialist, task, tokens, seconds } = AssignmentRequest.fields

const delegateTaskTool = selfTool({
  name: "delegate_task",
  description:
    "Hands a self-contained task to a sub-agent, which has your tools at most and a budget out of yours. Its report " +
    "answers this call. Hand on several tasks at once by calling this several times in one reply.",
  background: true,
  input: Schema.Struct({
    task: task.annotate({
      description: "Everything the sub-agent has to know: it sees nothing else unless insulation says so"
    }),
    specialist,
    insulation,
    tokens,
    calls,
    seconds
  }),
  run: (request, { call, records }) => {
    records.write("assignment", call, request)
    return `Handed on as ${call}; its report answers this call`
  }
})

const unknownCall = (call: string, known: Iterable<string>) => ({
  success: false,
  error: `there is no open task ${call}`,
  open: [...known]
})

const cancelTaskTool = selfTool({
  name: "cancel_task",
  description: "Ends a task that was handed on, and everything below it. What it did not spend is yours again.",
  input: Schema.Struct({ call: text(64, "The call that handed it on, as task_status names it") }),
  run: ({ call }, { records }) => {
    const assignments = records.read("assignment")
    if (!assignments.has(call)) return unknownCall(call, assignments.keys())
    records.write("assignment", call, null)
    return { success: true, call }
  }
})

const taskStatusTool = selfTool({
  name: "task_status",
  description: "Tells which tasks you have handed on that are open, and what is left of your budget.",
  run: (_, { records }) => records.loop.subAgents ?? { sub_agents: [], left: null }
})

/** Anyone who may have sub-agents has these. */
export const delegateTools = [delegateTaskTool, cancelTaskTool, taskStatusTool]

// RecordDraft: the changes one run makes to the records of its assistant.
// I1  A run reads its own changes; no one else does before they are committed.
// I2  Of several changes of one record the last one counts.

/** What the runtime lends a run. */
export interface RecordAccess {
  readonly read: (kind: RecordKind) => ReadonlyMap<string, Json>
  readonly consult: ToolRecords["consult"]
  readonly recall?: ToolRecords["recall"]
  readonly history?: ToolRecords["history"]
  readonly hasPassage?: ToolRecords["hasPassage"]
  readonly episodes?: ToolRecords["episodes"]
  readonly blocks?: ToolRecords["blocks"]
  readonly loop: LoopState
}

const nothing: ToolRecords["recall"] = () =>
  Promise.resolve({ hits: [], mode: "fts", degraded: "there is no memory here" })

const noPast: ToolRecords["history"] = { read: () => Promise.resolve([]), compacted: () => Promise.resolve(undefined) }

/** The state of no tick: what a run outside of one learns. */
export const openLoop: LoopState = {
  tick: 0,
  iteration: 0,
  maxIterations: 0,
  tokensUsed: 0,
  maxContextTokens: 0,
  reservedResponseTokens: 0,
  toolsThisTick: [],
  pendingTools: [],
  sleepBlockers: { isAsleep: false, unfinished: [] }
}

const nowhere: RecordAccess = {
  read: () => new Map(),
  consult: () => Promise.reject(new Error("there is no model to ask here")),
  loop: openLoop
}

type Verb = (...args: ReadonlyArray<never>) => Promise<unknown>

/** The same verbs: what they do is done outside of the run, and what they come to is reported inside of it. */
const through = <Verbs extends object>(verbs: Verbs, outside: Watch["outside"]): Verbs =>
  Object.fromEntries(
    Object.entries(verbs as Readonly<Record<string, Verb>>).map(([name, verb]): [string, Verb] => [
      name,
      async (...args) => outside(() => verb(...args))
    ])
  ) as unknown as Verbs

/** What goes on by itself behind the records is ours and belongs to no run; a promise of it that no one handles does. */
export const recordsOutside = (records: ToolRecords, outside: Watch["outside"]): ToolRecords => {
  const { blocks, consult, episodes, hasPassage, history, recall } = records
  return {
    ...records,
    ...through({ consult, episodes, hasPassage, recall }, outside),
    history: through(history, outside),
    blocks: through(blocks, outside)
  }
}

interface RecordDraft {
  readonly records: ToolRecords
  readonly changes: () => ReadonlyArray<RecordChange>
}

export const openRecords = (access: RecordAccess = nowhere): RecordDraft => {
  const changes = new Map<string, RecordChange>()
  return {
    records: {
      read: (kind) => {
        const kept = new Map(access.read(kind))
        for (const change of changes.values()) {
          if (change.kind !== kind) continue
          if (change.value === null) kept.delete(change.key)
          else kept.set(change.key, change.value)
        }
        return kept
      },
      write: (kind, key, value) => {
        changes.set(JSON.stringify([kind, key]), { kind, key, value })
      },
      consult: access.consult,
      recall: access.recall ?? nothing,
      history: access.history ?? noPast,
      hasPassage: access.hasPassage ?? (async () => false),
      episodes: access.episodes ?? (async () => []),
      blocks: access.blocks ?? noBlocks,
      loop: access.loop
    },
    changes: () => [...changes.values()]
  }
}

// SendMessage: the tool by which an assistant writes to others.
// Owns what the model learns of who was reached. Leaves finding them to the fleet's directory, delivery to the relay.
// M1  An unknown or shared name sends nothing: the result says why, and who can be reached.
// M2  Of several recipients each is sent to or refused by itself, and the result names both.

interface Message {
  readonly to: string
  readonly text: string
  readonly expect_answer?: boolean
}

const iso = (millis: number): string => new Date(millis).toISOString()

const sendAll = ({ expect_answer = false, text, to }: Message, run: ToolRun) => {
  const reached = run.reach(to)
  if ("refused" in reached) {
    const { candidates, reason, refused } = reached
    return { sent: [], refused, reason, reachable: candidates }
  }
  const sent: Array<string> = []
  const refused: Array<{ readonly to: string; readonly reason: string; readonly retry_at: string }> = []
  for (const id of reached.ids) {
    const refusal = run.mayNotWrite(id)
    if (refusal === undefined) {
      run.send(id, text, { wantsAnswer: expect_answer })
      sent.push(id)
    } else refused.push({ to: id, reason: refusal.reason, retry_at: iso(refusal.retryAt) })
  }
  return { sent, ...defined({ refused: refused.length === 0 ? undefined : refused }) }
}

/** The tool by which an assistant writes to another one. */
export const sendMessage: Tool = defineTool({
  name: "send_message",
  description:
    "Writes to another assistant: by its id or name, to a team as `group:<team>`, or to everybody with a role as " +
    "`role:<role>` or `role:<team>/<role>`. It leaves with the result of this call.",
  idempotent: true,
  input: Schema.Struct({
    to: Schema.NonEmptyString.annotate({ description: "An id, a name, group:<team> or role:<role>." }),
    text: Schema.NonEmptyString,
    expect_answer: Schema.optionalKey(Schema.Boolean.annotate({ description: "The answer comes back as a message." }))
  }),
  run: sendAll
})

// FinishTool: finish_task, by which a sub-agent ends its task.
// Owns what the model is offered and how its report is read again. Leaves sending it home to the runtime.
// R1  A sub-agent that does not call it is understood all the same: its last reply is the summary.

const reported = Schema.String.check(Schema.isMaxLength(MAX_TASK_CHARS))
const texts = Schema.Array(reported).check(Schema.isMaxLength(32))

const Finished = Schema.Struct({
  summary: reported.annotate({ description: "What was found or done, in a few sentences" }),
  output: Schema.optionalKey(
    reported.annotate({ description: "The result itself, where it is more than the summary" })
  ),
  artefacts: Schema.optionalKey(texts.annotate({ description: "What was made: names, places, ids" })),
  follow_up: Schema.optionalKey(texts.annotate({ description: "What should be done next" }))
})

export const FINISH_TASK = "finish_task"

export const finishTaskTool = defineTool({
  name: FINISH_TASK,
  description: "Ends your task with a report to the one who sent you. Call it once, when you are done.",
  final: true,
  idempotent: true,
  input: Finished,
  run: (finished) => JSON.stringify(finished)
})

const decodeFinished = Schema.decodeUnknownOption(Schema.fromJsonString(Finished))

/** What finish_task has answered; none for any other text. */
export const finishedIn = (content: string) => decodeFinished(content)
