// ChildJob: brings a sub-agent into the world.
// Owns its creation, once, and its task, which leaves with the commit that this job's end brings about. Leaves granting to the
// statechart.
// J1  Created again after a crash, it is the same one; an assistant of that name that is somebody else is left alone.
// J2  Its task is sent by a commit of its parent: a worker that has lost the parent can bear it, and nobody sets it to work.
// J3  Whoever is told to end while its creation is under way is created first, so that the order finds somebody.

import {
  type SubAgentStart,
  contextOf,
  depthLeft,
  type Decision,
  grantKey,
  jobDone,
  jobFailed,
  patternNow,
  restore,
  type SubAgent
} from "@reverie/assistant"
import { Ledger } from "@reverie/ledger"
import { type Address, ENVELOPE_VERSION, type Envelope, type OpenJob, toolCategories, defined } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { creationOf } from "../creation.ts"
import { Definitions } from "../definition.ts"
import type { JobEnd } from "../job-end.ts"
import type { Session } from "../session.ts"
import { assignmentOn } from "./assignments.ts"
import { senderOf, subAgentId, taskEnvelope } from "./names.ts"
import { sentDefinition } from "./sent-definition.ts"
import { taskText } from "./task-text.ts"

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
  const end: JobEnd = {
    job,
    event: problem === undefined ? jobDone(job.name, null) : jobFailed(job.name, { reason: problem }),
    messages: [],
    step: {
      id: job.id,
      kind: "child",
      name: job.name,
      ok: problem === undefined,
      elapsedMillis: (yield* Clock.currentTimeMillis) - startedAt,
      detail: defined({ child: line === undefined ? undefined : childAddress(session, line).assistant, error: problem })
    },
    ...defined({ sends: line === undefined || problem !== undefined ? undefined : taskOf(session, line) })
  }
  return end
})

/** Those told by a decision to end whose creation is under way. */
const plannedAmong = (session: Session, { commands }: Decision): ReadonlyArray<SubAgent> =>
  commands.flatMap((command) => {
    if (command._tag !== "Action" || command.type !== "tellSubAgents") return []
    const { to } = command.params as unknown as { readonly to: ReadonlyArray<{ readonly call: string }> }
    return to.flatMap(({ call }) => lineOf(session, call) ?? [])
  })

export const createPendingChildren = Effect.fnUntraced(function* (session: Session, decision: Decision) {
  for (const line of plannedAmong(session, decision)) yield* create(session, line)
})
