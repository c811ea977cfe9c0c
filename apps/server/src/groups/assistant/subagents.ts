// Family: the group about sub-agents and what they may spend.
// Owns the tree as the contract has it. Leaves granting and ending to the statechart.
// Y1  A sub-agent is shown with no tool that anybody above it lacks, as it is hosted with none.

import { defined } from "@reverie/protocol"
import type { DefinitionView, Fleet, SubAgentSlots, SubAgentView } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, type SubAgentNode, Unavailable } from "../../api/index.ts"
import { clip, TEXT_CHARS } from "../../views/message-view.ts"
import { asking, changing, type ReadFleet } from "../../gateway.ts"
import { found, living } from "../../views/facts.ts"

type Definitions = ReadonlyMap<string, DefinitionView>

/** What anyone who was sent with one task has no use for. */
const notForAssignments: ReadonlySet<string> = new Set(["go_to_sleep", "decompose_goal", "noop", "finish_task"])
const handingOn: ReadonlySet<string> = new Set(["delegate_task", "cancel_task", "task_status"])
const forAssignments: ReadonlyArray<string> = ["finish_task", "noop"]

const toolsOf = ({ definition, assignment }: SubAgentView, definitions: Definitions): ReadonlyArray<string> => {
  const own = definitions.get(definition ?? "")
  if (own === undefined || assignment === undefined) return []
  const above = assignment.above.map((name) => definitions.get(name))
  const isAllowed = (name: string): boolean =>
    !notForAssignments.has(name) &&
    (assignment.depth > 0 || !handingOn.has(name)) &&
    above.every((each) => each?.tools.some((tool) => tool.name === name))
  const tools = own.tools.filter(
    ({ category, name }) =>
      isAllowed(name) && (assignment.categories === null || assignment.categories.includes(category))
  )
  return [...tools.map(({ name }) => name), ...forAssignments]
}

const taskIn = (value: unknown): string | undefined => {
  const task: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "task") : undefined
  return typeof task === "string" ? clip(task, TEXT_CHARS) : undefined
}

/** Its first letter is its task, and stays in its ledger when its sender keeps no record of it any more. */
const toldTask = async (fleet: ReadFleet, id: string): Promise<string | undefined> => {
  for (const { entry } of await fleet.history.entries(id, 1, 8)) {
    const said = entry.messages.find(({ role }) => role === "user")
    if (said !== undefined) return clip(said.content, TEXT_CHARS)
  }
  return undefined
}

/** Under the names of the sources. */
const slotsJson = (slots: SubAgentSlots | undefined) =>
  slots === undefined
    ? {}
    : { sub_agents_enabled: slots.enabled, sub_agent_budget: slots.budget, sub_agents_open: slots.open }

const nodesBelow = async (
  fleet: ReadFleet,
  parent: string,
  subAgents: ReadonlyArray<SubAgentView>,
  definitions: Definitions
): Promise<ReadonlyArray<SubAgentNode>> => {
  if (subAgents.length === 0) return []
  const handedOn = new Map(
    (await fleet.memory.records(parent, ["assignment"])).map(({ key, value }) => [key, taskIn(value)])
  )
  const nodes: Array<SubAgentNode> = []
  for (const each of subAgents) {
    const { call, granted, id, phase, reserved, returned, slots, spent, state, until } = each
    const task = handedOn.get(call) ?? (state === "planned" ? undefined : await toldTask(fleet, id))
    nodes.push({
      id,
      state,
      phase,
      ...defined({ task }),
      until,
      granted,
      spent,
      reserved,
      ...defined({ returned }),
      ...slotsJson(slots),
      tools: toolsOf(each, definitions),
      subAgents: await nodesBelow(fleet, id, each.subAgents, definitions)
    })
  }
  return nodes
}

const treeOf = async (fleet: ReadFleet, id: string): Promise<SubAgentNode> => {
  const { state } = await living(fleet, id)
  const { granted, reserved, slots, spent, subAgents } = found(
    await fleet.subAgents.tree(id),
    `snapshot of ${id} that can be read`
  )
  const definitions = new Map((await fleet.definitions()).map((each) => [each.name, each]))
  return {
    id,
    state: state.status,
    granted,
    spent,
    reserved,
    ...slotsJson(slots),
    tools: (definitions.get(state.definition)?.tools ?? []).map(({ name }) => name),
    subAgents: await nodesBelow(fleet, id, subAgents, definitions)
  }
}

/** A process that only takes in has no one to admit a task: the one who asked learns of it, and the order stays where it is. */
const PATIENCE_MILLIS = 20_000

const admitted = async (order: ReturnType<Fleet["subAgents"]["delegate"]>) => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const message = "no one has taken the order up yet; it is durable: ask for the family to see what becomes of it"
  const timer = setTimeout(() => reject(new Unavailable({ message })), PATIENCE_MILLIS)
  try {
    const { call, child } = await Promise.race([order, late])
    return { child, call }
  } finally {
    clearTimeout(timer)
    order.catch(() => {})
  }
}

export const subAgentsLive = HttpApiBuilder.group(
  Api,
  "subAgentTree",
  Effect.fnUntraced(function* (handlers) {
    return handlers.handleAll({
      tree: ({ params: { id } }) => asking((fleet) => treeOf(fleet, id)),
      delegate: ({ params: { id }, payload }) =>
        changing("sub-agent-tree.delegate", id, async (fleet) => {
          await living(fleet, id)
          return admitted(
            fleet.subAgents.delegate(id, payload.task, payload.id === undefined ? {} : { id: payload.id })
          )
        }),
      cancel: ({ params: { id }, payload: { reason } }) =>
        changing("sub-agent-tree.cancel", id, async (fleet) => {
          await living(fleet, id)
          return fleet.subAgents.cancel(id, reason)
        })
    })
  })
)
