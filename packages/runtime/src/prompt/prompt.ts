// Prompt: what an assistant is shown with a model call.
// Owns gathering the texts of its parts from the definition and the records, and the offer of tools. Leaves what a part
// looks like, its place and the limits to `context`.
// I1  A part is rendered and counted again only when what it shows has changed.
// I2  A tool is offered when the pattern allows its category and the kind of context its name; those for sub-agents only
//     where both layers allow them (F36).

import {
  ambienceOf,
  contextOf,
  goalsOf,
  listAmbientMessages,
  patternNow,
  projectsOf,
  renderPrompts,
  selfPromptOf,
  sessionMemoryOf
} from "@reverie/assistant"
import {
  append,
  assemble,
  type AssembleInput,
  bufferContent,
  characterContent,
  collect,
  type Content,
  type ContextTypeConfig,
  getContextType,
  goalsContent,
  openWindow,
  PLACES,
  toolRulesText
} from "@reverie/context"
import type { ToolOffer } from "@reverie/model"
import { type Message, defined } from "@reverie/protocol"
import { delegateToolNames } from "@reverie/tools"
import { acquaintances } from "../intake/conversation.ts"
import { recordsOf } from "../session/own-records.ts"
import { windowOn } from "./history.ts"
import { contextTypeNow } from "./layers.ts"
import type { Session } from "../session/session.ts"
import { windowLimits } from "../sub-agents/metered.ts"
import type { UncountedMessage } from "../commit/commit-draft.ts"

/** Renders anew only when one of the sources is another object than before. */
const remembered = (session: Session, key: string, sources: ReadonlyArray<object>, render: () => Content): Content => {
  const before = session.texts.get(key)
  if (before !== undefined && before.sources.every((source, index) => source === sources[index])) return before.content
  const content = render()
  session.texts.set(key, { sources, content })
  return content
}

const textsOf = (session: Session): Readonly<Record<string, Content>> => {
  const { definition, own } = session
  const { persona, rules, systemPrompt } = definition
  const [prompts, projects, facts, memory, goals, ambientMessages] = (
    ["prompt", "project", "state", "session", "goal", "ambientMessages"] as const
  ).map((kind) => recordsOf(own, kind)) as [Records, Records, Records, Records, Records, Records]
  return {
    system_prompt: remembered(session, "system_prompt", [prompts], () =>
      renderPrompts(selfPromptOf(prompts), systemPrompt)
    ),
    character_context: remembered(session, "character_context", [projects, facts, memory], () =>
      characterContent({
        ...defined({ persona }),
        projects: projectsOf(projects, facts),
        sessionMemory: sessionMemoryOf(memory)
      })
    ),
    entity_context: acquaintances(session),
    semantic_memories: session.recollection.memories,
    goals: remembered(session, "goals", [goals], () => goalsContent(goalsOf(goals))),
    context_buffer: remembered(session, "context_buffer", [ambientMessages], () =>
      bufferContent(listAmbientMessages(ambienceOf(ambientMessages)))
    ),
    core_blocks: session.blocks.core,
    working_blocks: session.blocks.working,
    tool_rules: remembered(session, "tool_rules", [rules], () => toolRulesText(rules))
  }
}

type Records = ReturnType<typeof recordsOf>

const offersOf = (session: Session, { contextType, toolFilter }: ContextTypeConfig): ReadonlyArray<ToolOffer> => {
  const { categories, subAgents } = patternNow(contextOf(session.decoded))
  const key = `${contextType} ${categories.join(" ")} ${subAgents}`
  const known = session.offers.get(key)
  if (known !== undefined) return known
  const offers = session.definition.toolkit
    .offers({ categories, ...defined({ allow: toolFilter === null ? undefined : toolFilter }) })
    .filter(({ name }) => subAgents || !delegateToolNames.has(name))
  session.offers.set(key, offers)
  return offers
}

const limitsOf = ({ book, decoded, definition }: Session) => ({
  ...windowLimits(definition, contextOf(decoded)),
  count: book.count
})

/** The prompt of the tick at hand, within its limits, and the tools that go with it. `last` stands in this one only. */
export const promptOf = (session: Session, last?: UncountedMessage) => {
  const { book, count, decoded } = session
  const window = last === undefined ? session.window : append(session.window, [{ ...last, tokens: count(last) }])
  const context = contextTypeNow(session)
  const offers = offersOf(session, context)
  const { absent, components } = collect({
    context,
    texts: textsOf(session),
    pluggedIn: session.plugged,
    values: session.values,
    mode: patternNow(contextOf(decoded)).mode,
    book
  })
  const input: AssembleInput = {
    ...limitsOf(session),
    components,
    absent: [...absent, ...session.blocks.absent],
    window,
    context,
    toolTokens: book.toolTokens(offers)
  }
  return { offers, assembled: assemble(input) }
}

/** The prompt of a question that is no part of the conversation. */
export const questionOf = (session: Session, context: ContextTypeConfig, text: string) => {
  const { book, definition } = session
  const texts = { ...textsOf(session), [PLACES.pendingEvent.key]: text }
  const { absent, components } = collect({ context, texts, pluggedIn: session.plugged, values: session.values, book })
  const window = openWindow([], definition.maxContextTokens)
  return assemble({ ...limitsOf(session), components, absent, window, context })
}

/**
 * The prompt of a round of extraction: the whole conversation, and after it what is asked (F60). The question is no part
 * of the history. What has left the window of the tick is still to be compacted, and so it is shown.
 */
export const extractionPromptOf = (
  session: Session,
  history: ReadonlyArray<Message>,
  text: string,
  offers: ReadonlyArray<ToolOffer>,
  now: number
) => {
  const { book, count, definition, own } = session
  const context = getContextType("pre_compaction")
  const asked = { role: "user", name: "clock", content: text, at: now } as const
  const window = append(windowOn(history, definition, own), [{ ...asked, tokens: count(asked) }])
  const { absent, components } = collect({ context, texts: textsOf(session), values: session.values, book })
  return assemble({ ...limitsOf(session), components, absent, window, context, toolTokens: book.toolTokens(offers) })
}
