// SentDefinition: a definition as a sub-agent has it.
// Owns what is narrowed: tools, settings, prompt, memory. Leaves the definition itself to the SDK.
// D1  A sub-agent has no tool that anybody above it lacks, and none that its tick's pattern forbade.
// D2  It has neither sleep schedule nor compactions, reports by a tool and not in the form of its definition's answers, and
//     hands on tasks only while depth is left.
// D3  It asks the model that its owner has for sub-agents, unless its definition has one of its own and is not its owner's.
// D4  It is the same on every host: everything follows from its assignment and the definitions by their names.

import { defined } from "@reverie/protocol"
import { changedSettings, type Assignment, settingsOf } from "@reverie/assistant"
import { delegateToolNames, finishTaskTool, noop, toolkitOf } from "@reverie/tools"
import type { Definition, DefinitionModels, Definitions } from "../session/definition.ts"
import { scopesOf } from "../recall/scopes.ts"

/** Of no use, or no right, for someone with one task. */
const notForAssignments: ReadonlySet<string> = new Set(["go_to_sleep", "decompose_goal", "noop", "finish_task"])

const SPECIALIST =
  "You are a specialist who was given one task. You know nothing of the rest of the work, and nobody answers questions."

const ENDING =
  "Work on the task you are given and on nothing else. You have a limited budget. When you are done, or can not go on, " +
  "call finish_task once with what you have: a summary, the output, what you made, and what should follow."

const promptOf = ({ name, systemPrompt }: Definition, { above, insulation }: Assignment): string => {
  // Insulated from whom it works for, not from its own trade.
  const isOwnKind = above.at(-1) === name
  const own = insulation === "orchestrator" && isOwnKind ? [SPECIALIST] : [systemPrompt]
  return [...own, ENDING].join("\n\n")
}

const settingsFor = (definition: Definition, assignment: Assignment, above: ReadonlyArray<Definition | undefined>) => {
  const { settings } = definition
  const all = [settings, ...above.map((each) => each?.settings ?? {})]
  const { budgetCalls: _calls, budgetCostMicros: _cost, budgetTokens: _tokens, ...own } = settings
  const least = Math.min(...all.map(({ subAgentBudget = 3 }) => subAgentBudget))
  return changedSettings(
    settingsOf({
      ...own,
      subAgents: assignment.depth > 0 && all.every(({ subAgents }) => subAgents === true),
      subAgentBudget: least,
      confirmDangerous: all.some(({ confirmDangerous = true }) => confirmDangerous),
      terminalEndsLoop: true,
      compactEnabled: false,
      sleepTickMs: 0
    })
  )
}

const modelsFor = (definition: Definition, owner: Definition | undefined): DefinitionModels | undefined => {
  const { modelFor } = definition
  const sent = owner?.modelFor?.forSubAgents
  const isOwnKind = owner?.name === definition.name
  return sent === undefined || (modelFor?.isOwn === true && !isOwnKind)
    ? modelFor
    : { ...modelFor, answer: sent, assess: sent }
}

export const sentDefinition = (
  definition: Definition,
  assignment: Assignment,
  { find }: Pick<Definitions["Service"], "find">
): Definition => {
  const above = assignment.above.map(find)
  const settings = settingsFor(definition, assignment, above)
  const { memory: _memory, output: _output, persona, sleep: _sleep, team: _team, ...kept } = definition
  // Its prompt is of its assignment, and no one has written another.
  const { instructionsKey: _key, ...rest } = kept
  const { categories, insulation } = assignment
  const isAllowed = (name: string): boolean =>
    !notForAssignments.has(name) &&
    (settings.subAgents === true || !delegateToolNames.has(name)) &&
    above.every((each) => each?.toolkit.get(name) !== undefined)
  const tools = definition.toolkit.names.flatMap((name) => {
    const tool = definition.toolkit.get(name)
    if (tool === undefined || !isAllowed(name)) return []
    return categories === null || categories.includes(tool.category) ? [tool] : []
  })
  return {
    ...rest,
    ...defined({
      persona: persona === undefined || insulation === "orchestrator" ? undefined : persona,
      modelFor: modelsFor(definition, above.at(-1))
    }),
    // It asks its owner's memory by tools, and nothing comes to its mind by itself.
    memory: { recall: "off", perPerson: above.some((each) => each?.memory?.perPerson === true) },
    recallScopes: scopesOf(definition).filter((scope) =>
      above.every((each) => each === undefined || scopesOf(each).includes(scope))
    ),
    systemPrompt: promptOf(definition, assignment),
    settings,
    toolkit: toolkitOf([...tools, finishTaskTool, noop])
  }
}
