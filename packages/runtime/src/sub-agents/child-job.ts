// ChildJob: creates a sub-agent.
// Owns its creation, once, and its task, which leaves with the commit that this job's end brings about. Leaves granting to the
// statechart.
// J1  Created again after a crash, it is the same one; another assistant of that name is left alone.
// J2  Its task is sent by a commit of its parent: a worker that has lost the parent can create it and not set it to work.
// J3  A sub-agent that is ordered to end while its creation is under way is created before that commit, so that the order
//     finds it.

import {
  contextOf,
  type Decision,
  depthLeft,
  goalsOf,
  grantKey,
  jobDone,
  jobFailed,
  patternNow,
  restore,
  statusOf,
  type SubAgent,
  type SubAgentStart
} from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import {
  type Address,
  type AssignmentRequest,
  defined,
  type Envelope,
  ENVELOPE_VERSION,
  type OpenJob,
  toolCategories
} from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { goalsContent, textOf } from "@reverie/context"
import { creationOf, type Session } from "../session/session.ts"
import { Definitions } from "../session/definition.ts"
import type { JobEnd } from "../jobs/job-end.ts"
import { assignmentOn, senderOf, subAgentId, taskEnvelope } from "./assignments.ts"
import { sentDefinition } from "./sent-definition.ts"
import { recordsOf } from "../session/own-records.ts"

// TaskText: what a sub-agent learns first.
// T1  orchestrator: the task alone. delegate: and the descriptions of three goals. none: all goals, the recent
//     conversation and the state as well.
// T2  What goes along is quoted data, bounded in length; the task stands last.

const FOREMOST_GOALS = 3
const RECENT_MESSAGES = 12
const MAX_LINE_CHARS = 1_000

const rank = { critical: 0, high: 1, medium: 2, low: 3 } as Readonly<Record<string, number>>

const clipped = (text: string): string =>
  text.length <= MAX_LINE_CHARS ? text : `${text.slice(0, MAX_LINE_CHARS - 1)}…`

const goalLines = ({ own }: Session): ReadonlyArray<string> =>
  [...goalsOf(recordsOf(own, "goal")).values()]
    .filter(({ status }) => status === "active")
    .toSorted((a, b) => (rank[a.priority] ?? 9) - (rank[b.priority] ?? 9))
    .slice(0, FOREMOST_GOALS)
    .map(({ description }) => `- ${clipped(description)}`)

const conversationLines = ({ window }: Session): ReadonlyArray<string> =>
  window.messages
    .filter(({ content, rejected, role }) => {
      return (role === "user" || role === "assistant") && content !== "" && rejected === undefined
    })
    .slice(-RECENT_MESSAGES)
    .map(({ content, name, role }) => `${name ?? role}: ${clipped(content)}`)

const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.length === 0 ? [] : [`${title}\n${lines.join("\n")}`]

const goalsText = ({ own }: Session): ReadonlyArray<string> => {
  const text = textOf(goalsContent(goalsOf(recordsOf(own, "goal"))))
  return text === "" ? [] : [text]
}

/** The first message of a sub-agent. */
const taskText = (session: Session, { insulation = "orchestrator", task }: AssignmentRequest): string => {
  if (insulation === "orchestrator") return task
  const from = session.address.assistant
  if (insulation === "delegate") {
    return [...section(`Goals of ${from}, for whom you work:`, goalLines(session)), `Your task: ${task}`].join("\n\n")
  }
  const { iteration, tick } = contextOf(session.decoded)
  return [
    ...section(`Goals of ${from}, for whom you work:`, goalsText(session)),
    ...section(`What was said to ${from} and by it, lately:`, conversationLines(session)),
    `State of ${from}: ${statusOf(session.decoded)}, tick ${tick}, iteration ${iteration}.`,
    `Your task: ${task}`
  ].join("\n\n")
}

const childAddress = ({ address }: Pick<Session, "address">, line: Pick<SubAgent, "call" | "tries">): Address => ({
  tenant: address.tenant,
  assistant: subAgentId(address.assistant, line.call, line.tries)
})

/** What the line of a sub-agent and its task make of it. */
const subAgentStartOf = (session: Session, line: SubAgent): SubAgentStart | undefined => {
  const { address, definition, own } = session
  const context = contextOf(session.decoded)
  const granted = context.account?.out[grantKey(line)]
  const request = assignmentOn(own, line.call)
  if (granted === undefined || request === undefined) return undefined
  const { call, millis, tries, until } = line
  const { categories } = patternNow(context)
  return {
    granted,
    assignment: {
      parent: address.assistant,
      owner: context.assignment?.owner ?? address.assistant,
      call,
      tries,
      depth: Math.max(0, depthLeft(context) - 1),
      millis,
      until,
      insulation: request.insulation ?? "orchestrator",
      above: [...(context.assignment?.above ?? []), definition.name],
      categories: categories.length === toolCategories.length ? null : categories,
      late: false
    }
  }
}

/** Bears it, or finds it created; a sentence where neither can be. */
const create = Effect.fnUntraced(function* (session: Session, line: SubAgent) {
  const { definition, own } = session
  const definitions = yield* Definitions
  const ledger = yield* Ledger
  const subAgentStart = subAgentStartOf(session, line)
  if (subAgentStart === undefined) return "its task is not recorded any more"
  const { specialist = definition.name } = assignmentOn(own, line.call) ?? {}
  const isOwn = specialist === definition.name
  const found = definitions.find(specialist)
  if (found === undefined || !(isOwn || definition.specialists?.includes(specialist) === true)) {
    const known = (definition.specialists ?? []).join(", ")
    return `there is no specialist ${JSON.stringify(specialist)}; ${known === "" ? "there are none" : `known: ${known}`}`
  }
  const address = childAddress(session, line)
  const creation = yield* creationOf(
    address,
    sentDefinition(found, subAgentStart.assignment, definitions),
    subAgentStart
  )
  if ((yield* ledger.create(creation)) === "created") return undefined
  const lived = yield* ledger.inspect(address)
  const restored = lived === undefined ? undefined : restore(lived.state.snapshot)
  const assignment =
    restored !== undefined && Result.isSuccess(restored) ? contextOf(restored.success).assignment : null
  const isIt =
    assignment?.parent === session.address.assistant && assignment.call === line.call && assignment.tries === line.tries
  return isIt ? undefined : `there is another assistant ${address.assistant}`
})

const taskOf = (session: Session, line: SubAgent): ReadonlyArray<Envelope> => {
  const request = assignmentOn(session.own, line.call)
  if (request === undefined) return []
  const to = childAddress(session, line)
  return [
    {
      v: ENVELOPE_VERSION,
      id: taskEnvelope(to),
      to,
      from: senderOf(session.address),
      event: { type: "message", text: taskText(session, request) },
      // Depth bounds it, and the budget; what the sub-agent sends goes on from here.
      hops: contextOf(session.decoded).hops
    }
  ]
}

const lineOf = (session: Session, call: string): SubAgent | undefined =>
  contextOf(session.decoded).subAgents.find((line) => line.call === call && line.phase === "spawning")

/** Who was created for which call, and the beginning of its task. */
const startedOf = (session: Session, line: SubAgent) => ({
  child: childAddress(session, line).assistant,
  call: line.call,
  task: (assignmentOn(session.own, line.call)?.task ?? "").slice(0, MAX_SHOWN_TASK_CHARS).toWellFormed()
})

const MAX_SHOWN_TASK_CHARS = 400

export const runChild = Effect.fnUntraced(function* (session: Session, job: OpenJob) {
  const startedAt = yield* Clock.currentTimeMillis
  const { call } = job.input as { readonly call: string }
  const line = lineOf(session, call)
  const problem =
    line === undefined
      ? "it is not awaited any more"
      : yield* create(session, line).pipe(
          Effect.catchTag(["LedgerUnavailable", "UnreadableRecord"], ({ message }) => Effect.succeed(message))
        )
  const started = line === undefined ? undefined : startedOf(session, line)
  const end: JobEnd = {
    job,
    event: problem === undefined ? jobDone(job.name, null) : jobFailed(job.name, { reason: problem }),
    messages: [],
    step: {
      id: job.id,
      kind: "child",
      name: job.name,
      ok: problem === undefined,
      elapsedMs: (yield* Clock.currentTimeMillis) - startedAt,
      detail: defined({ ...started, error: problem })
    },
    ...defined({ sends: line === undefined || problem !== undefined ? undefined : taskOf(session, line) })
  }
  return end
})

/** The sub-agents that a decision orders to end while their creation is under way. */
const plannedAmong = (session: Session, { commands }: Decision): ReadonlyArray<SubAgent> =>
  commands.flatMap((command) => {
    if (command._tag !== "Action" || command.type !== "tellSubAgents") return []
    const { to } = command.params as unknown as { readonly to: ReadonlyArray<{ readonly call: string }> }
    return to.flatMap(({ call }) => lineOf(session, call) ?? [])
  })

/** The stage between a decision and its commit. What it creates is created again by no later one, so a crash is harmless. */
export const createPendingChildren = (session: Session, decision: Decision) =>
  Effect.forEach(plannedAmong(session, decision), (line) => create(session, line), { discard: true })
