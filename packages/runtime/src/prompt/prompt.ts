// Prompt: what an assistant is shown with a model call.
// Owns gathering the texts of its parts from the definition and the records, and the offer of tools. Leaves what a part
// looks like, its place and the limits to `context`.
// I1  A part is rendered and counted again only when what it shows has changed.
// I2  Every tool is offered with every call, those for sub-agents where the settings allow them (F36). It may be called when
//     the pattern allows its category and the kind of context its name; a call of another one is refused.

import { createHash } from "node:crypto"
import {
  ambienceOf,
  contextOf,
  goalsOf,
  listAmbientMessages,
  mayRepair,
  patternNow,
  patternOf,
  projectsOf,
  renderPrompts,
  type Restriction,
  selfPromptOf,
  sessionMemoryOf,
  settingsNow
} from "@reverie/assistant"
import {
  type Absent,
  append,
  assemble,
  type AssembleInput,
  bufferContent,
  characterContent,
  collect,
  type Content,
  type ContextTypeConfig,
  dataOf,
  fingerprintOf,
  goalsContent,
  type LeftOut,
  openWindow,
  PLACES,
  type Standing,
  textOf,
  toolRulesText,
  unshown,
  type Window
} from "@reverie/context"
import { asData } from "@reverie/memory"
import { type OutputForm, outputText, type Reply, type ToolOffer } from "@reverie/model"
import { addressKey, defined, type Message } from "@reverie/protocol"
import { delegateToolNames, type Form, formOf, readAnswer, rejectionOf } from "@reverie/tools"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { JudgedAnswer, UncountedMessage } from "../commit/commit-draft.ts"
import { acquaintances } from "../intake/inbox.ts"
import { recordsOf } from "../session/own-records.ts"
import { personOf, windowFor } from "../session/person.ts"
import type { Session } from "../session/session.ts"
import { besideChanges, besideEvents, windowOn } from "./blocks-in-view.ts"
import { builtWith, describesTools, instructionsTemplate, instructionsText, systemText, templateNow } from "./blocks.ts"
import { contextTypeNow } from "./layers.ts"
import { windowLimits } from "./metered.ts"

/** Renders anew only when one of the sources is another object than before. */
const remembered = (session: Session, key: string, sources: ReadonlyArray<object>, render: () => Content): Content => {
  const before = session.texts.get(key)
  if (before !== undefined && before.sources.every((source, index) => source === sources[index])) return before.content
  const content = render()
  session.texts.set(key, { sources, content })
  return content
}

/** Component 0; `isPlain`: for a model that is asked for tool calls in JSON. */
const systemOf = (session: Session, prompts: Records, isPlain: boolean): Content => {
  const template = templateNow(session, isPlain)
  const offers = offersOf(session)
  const own = instructionsTemplate(session)
  const told = own ?? session.definition
  const sources = [prompts, session.rendering.values, told, ...(template === undefined ? [] : [template, offers])]
  return remembered(session, isPlain ? "system_prompt in JSON" : "system_prompt", sources, () =>
    systemText(session, template, renderPrompts(selfPromptOf(prompts), instructionsText(session, own)), offers)
  )
}

const textsOf = (session: Session, isPlain = false) => {
  const { definition, own } = session
  const { persona, rules } = definition
  const [prompts, projects, facts, memory, goals, ambientMessages] = (
    ["prompt", "project", "state", "session", "goal", "ambientMessages"] as const
  ).map((kind) => recordsOf(own, kind)) as [Records, Records, Records, Records, Records, Records]
  return {
    system_prompt: systemOf(session, prompts, isPlain),
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
    activity: session.rendering.activity,
    tool_rules: remembered(session, "tool_rules", [rules], () => toolRulesText(rules))
  }
}

type Records = ReturnType<typeof recordsOf>

/** The same tools in the same order with every call, whatever the kind of context: they stand before all else that is sent. */
const offersOf = ({ decoded, definition, offers: known }: Session): ReadonlyArray<ToolOffer> => {
  const { subAgents } = patternOf(settingsNow(contextOf(decoded)))
  const key = String(subAgents)
  const before = known.get(key)
  if (before !== undefined) return before
  const offers = definition.toolkit.offers().filter(({ name }) => subAgents || !delegateToolNames.has(name))
  known.set(key, offers)
  return offers
}

/** Names of the tools that may be called in the tick at hand; undefined when all may be. */
export const allowedNow = (session: Session): ReadonlyArray<string> | undefined => {
  const { book, decoded, definition } = session
  const { contextType, toolFilter } = contextTypeNow(session)
  const { categories, subAgents } = patternNow(contextOf(decoded))
  const offers = offersOf(session)
  return book.rendered("allowed tools", [offers, contextType, categories.join(" "), subAgents], () => {
    const allowed = definition.toolkit
      .offers({ categories, ...defined({ allow: toolFilter === null ? undefined : toolFilter }) })
      .filter((offer) => offers.includes(offer) && (subAgents || !delegateToolNames.has(offer.name)))
    return allowed.length === offers.length ? undefined : allowed.map(({ name }) => name)
  })
}

/** The same for all calls of an assistant in one kind of context, and nothing that tells a provider who that is. */
export const cacheKeyOf = (session: Session): string => {
  const { address, book } = session
  const { contextType } = contextTypeNow(session)
  return book.rendered(`cache key of ${contextType}`, [addressKey(address)], () =>
    createHash("sha256")
      .update(`${addressKey(address)} ${contextType}`)
      .digest("hex")
      .slice(0, 32)
  )
}

const limitsOf = ({ book, decoded, definition }: Session) => ({
  ...windowLimits(definition, contextOf(decoded)),
  count: book.count
})

// Standing: what changes seldom is shown beside the event that it changed before, and stays there.
// S1  A tick is shown one state of it from its first model call to its last, like its blocks and memories.
// S2  Memories are shown anew with every event, and never twice: they are many, and hardly one comes to mind again.

interface PlacedStanding extends Standing {
  readonly id: number
}

/** The id of the goal that a line tells of. */
const goalOf = (line: string): string => /^ *- \[([^\]]+)\]/.exec(line)?.[1] ?? ""

/** All goals where none was shown, later those that have changed. */
const goalsStanding = (goals: Content): PlacedStanding => {
  const lines = textOf(goals)
    .split("\n")
    .filter((line) => goalOf(line) !== "")
  return {
    ...PLACES.goals,
    things: lines.map((line) => ({ id: goalOf(line), says: line })),
    isWhole: true,
    render: (ids) => {
      const changed = lines.filter((line) => ids.has(goalOf(line)))
      const open = new Set(lines.map(goalOf))
      const ended = [...ids].filter((id) => !open.has(id)).map((id) => `- [${id}] is open no more`)
      if (changed.length === lines.length && ended.length === 0) return textOf(goals)
      return ["# Goals", "The others are as they were shown before.", ...changed, ...ended].join("\n")
    }
  }
}

const profilesStanding = ({ recollection, topics }: Session): PlacedStanding => {
  const { profileLines } = recollection
  const conversation = topics.slice(0, Math.max(0, topics.indexOf(", lately")))
  const profiles = [...profileLines].map(([id, { at, text }]) => ({ id, says: `${at} ${text}` }))
  return {
    ...PLACES.entityContext,
    // What it was about lately is shown once with each: it changes with every word.
    things: topics === "" ? profiles : [...profiles, { id: conversation, says: "told" }],
    render: (ids) => {
      const told = ids.has(conversation) ? [topics] : []
      return [asData([...profileLines].flatMap(([id, line]) => (ids.has(id) ? [line] : []))), ...told]
        .filter((text) => text !== "")
        .join("\n\n")
    }
  }
}

const standingsOf = (session: Session, texts: ReturnType<typeof textsOf>): ReadonlyArray<PlacedStanding> => {
  const { book, own } = session
  const nearby = recordsOf(own, "ambientMessages")
  const heard = book.rendered("nearby", [nearby], () => [...ambienceOf(nearby)])
  return [
    profilesStanding(session),
    {
      ...PLACES.contextBuffer,
      things: heard.map(([id]) => ({ id, says: "heard" })),
      render: (ids) => textOf(bufferContent(heard.flatMap(([id, line]) => (ids.has(id) ? [line] : []))))
    },
    goalsStanding(texts.goals)
  ]
}

const NO_KEYS: ReadonlySet<string> = new Set()

/** There is nothing of all that could stand beside an event: no goal, no profile, and nothing was heard nearby. */
const hasNoStandings = ({ own, recollection, topics }: Session): boolean =>
  topics === "" &&
  recollection.profileLines.size === 0 &&
  recordsOf(own, "goal").size === 0 &&
  recordsOf(own, "ambientMessages").size === 0

/** What stands beside the event of the tick at hand, with what stands beside earlier ones. */
const standingNow = (session: Session, { enabledComponents }: ContextTypeConfig, seen: Window) => {
  const texts = textsOf(session, session.rendering.isPlain)
  const beside = besideEvents(session, seen)
  if (beside.recorded === undefined && beside.marks.size === 0 && hasNoStandings(session)) {
    return { beside, known: NO_KEYS, parts: [], texts }
  }
  // What this kind of context does not show is not shown to anybody by it.
  const standings = standingsOf(session, texts).filter(({ id }) => enabledComponents.includes(id))
  const isShown = enabledComponents.includes(PLACES.conversationHistory.id)
  // What a tool of this tick has changed its result tells; it is shown beside the next event.
  const isFirst = contextOf(session.decoded).iteration <= 1
  const fresh = isShown && isFirst ? standings.flatMap((each) => unshown(each, beside.marks) ?? []) : []
  const parts = beside.recorded?.parts ?? fresh
  const ofKey = new Map(parts.map(({ key, text }) => [key, dataOf(text)]))
  const shown = Object.fromEntries(standings.map(({ key }) => [key, ofKey.get(key) ?? ""]))
  const known = new Set(standings.flatMap(({ key, things }) => (things.some(({ says }) => says !== "") ? [key] : [])))
  return { beside, known, parts, texts: isShown ? { ...texts, ...shown } : texts }
}

/** The window as it may be seen in the tick at hand, and what of it may not. */
const windowNow = (session: Session): { readonly seen: Window; readonly leftOut: ReadonlyArray<LeftOut> } => {
  const { window } = session
  const person = personOf(session)
  if (person === undefined) return { seen: window, leftOut: [] }
  const seen = windowFor(window, person)
  const messages = window.messages.length - seen.messages.length
  return { seen, leftOut: [{ reason: "other-person", messages, tokens: window.tokens - seen.tokens }] }
}

const besideReason =
  (known: ReadonlySet<string>) =>
  (each: Absent): Absent =>
    each.reason === "empty" && known.has(each.key) ? { ...each, reason: "shown-before" } : each

/** The prompt of the tick at hand, within its limits, and the tools that go with it. `last` stands in this one only. */
export const promptOf = (session: Session, last?: UncountedMessage) => {
  const { book, count, decoded, own, places } = session
  const { leftOut, seen } = windowNow(session)
  const window = last === undefined ? seen : append(seen, [{ ...last, tokens: count(last) }])
  const context = contextTypeNow(session)
  const offers = offersOf(session)
  const { beside, known, parts, texts } = standingNow(session, context, seen)
  const { absent, components } = collect({
    context,
    texts,
    pluggedIn: session.plugged,
    values: session.rendering.values,
    mode: patternNow(contextOf(decoded)).mode,
    book
  })
  const input: AssembleInput = {
    ...limitsOf(session),
    ...builtWith(session),
    components,
    absent: [...absent.map(besideReason(known)), ...session.blocks.absent],
    leftOut,
    window,
    beside: beside.components,
    context,
    toolTokens: describesTools(session) ? 0 : book.toolTokens(offers),
    toolsMark: book.rendered("mark of the tools", [offers], () => fingerprintOf(JSON.stringify(offers))),
    formTokens: formTokensOf(session)
  }
  const assembled = assemble(input)
  // What one person does not see another will.
  const isKept = last === undefined && seen === session.window && Result.isSuccess(assembled)
  const kept = isKept ? assembled.success.window : session.window
  const shown = besideChanges({ own, places, window: kept, count: session.count }, beside, parts)
  return { offers, assembled, kept, shown }
}

/** The prompt of a question that is no part of the conversation. */
export const questionOf = (session: Session, context: ContextTypeConfig, text: string) => {
  const { book, definition, plugged: pluggedIn, rendering } = session
  const texts = { ...textsOf(session), [PLACES.pendingEvent.key]: text }
  const { absent, components } = collect({ context, texts, pluggedIn, values: rendering.values, book })
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
  const context = contextTypeNow(session)
  const asked = { role: "user", name: "clock", content: text, at: now } as const
  const window = append(windowOn(history, definition, own), [{ ...asked, tokens: count(asked) }])
  const { absent, components } = collect({ context, texts: textsOf(session), values: session.rendering.values, book })
  return assemble({ ...limitsOf(session), components, absent, window, context, toolTokens: book.toolTokens(offers) })
}

// AnswerForm: the form that the answer of the tick at hand must have.
// Owns finding it, what a prompt has of it, and judging an answer by it. Leaves reading an answer to `tools`, and how often it is
// asked for again to `assistant`.
// N1  The form that a message asks for comes before that of the definition; a tick that no message began has none.
// N2  It is found in the history and in the definition alone: a crash, a later iteration, a replay and a fork have the same.
// N3  A tick without a form makes nothing of all this but one look at its event.

/** What the wire calls every form. */
const NAME = "answer"

/** Undefined where any answer will do. */
export const answerFormOf = ({ definition, window }: Pick<Session, "definition" | "window">): Form | undefined => {
  const event = window.messages.findLast(({ role }) => role === "user")
  if (event?.output === undefined) return event === undefined || event.name === "clock" ? undefined : definition.output
  const asked = formOf(event.output)
  // What can be no form was refused at the door.
  return typeof asked === "string" ? undefined : asked
}

/** By the form: a prompt has the same object with every call. */
const outputs = new WeakMap<Form, OutputForm>()

/** The form as a prompt has it. */
export const outputOf = (form: Form | undefined): OutputForm | undefined => {
  if (form === undefined) return undefined
  const known = outputs.get(form) ?? { name: NAME, schema: form.schema }
  outputs.set(form, known)
  return known
}

/** What the form costs in a prompt, said in words: a provider that reads it natively asks for about as much. */
const formTokensOf = (session: Session): number => {
  const output = outputOf(answerFormOf(session))
  if (output === undefined) return 0
  const { book, count } = session
  return book.rendered("answer form", [output], () => count({ role: "user", content: outputText(output), at: 0 }))
}

/** What stands in the history in the place of an answer that a hook refused. */
export const WITHHELD = { text: "(withheld)", meta: { type: "withheld" } } as const

const refusedText = (reason: string): string => `Your answer was not accepted: ${reason} Answer again.`

/**
 * What an answer comes to; undefined where any will do. `refusal`: why a hook refused it. `pressed`: what is left of the pattern
 * where it has become narrower since the tick began.
 */
export const judgedAnswer = (
  { decoded }: Pick<Session, "decoded">,
  form: Form | undefined,
  { calls, text }: Pick<Reply, "calls" | "text">,
  refusal: string | undefined,
  pressed: Restriction | undefined
): Effect.Effect<JudgedAnswer | undefined> => {
  const again = { calls: [], ...defined({ restriction: pressed }) }
  if (refusal !== undefined) {
    const mayAgain = mayRepair(contextOf(decoded), { ...again, refused: true })
    return Effect.succeed({ refusal, rejected: mayAgain ? refusedText(refusal) : undefined })
  }
  if (form === undefined || calls.length > 0) return Effect.undefined
  return readAnswer(form, text).pipe(
    Effect.map(({ json }): JudgedAnswer => ({ output: json })),
    Effect.catch((issues) => {
      const mayAgain = mayRepair(contextOf(decoded), { ...again, misshapen: true })
      return Effect.succeed({ issues, rejected: mayAgain ? rejectionOf(issues) : undefined })
    })
  )
}
