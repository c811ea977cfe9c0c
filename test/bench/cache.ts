// Cache: how much of what is sent to a provider repeats the beginning of the request before it, over a long life.
// Owns the life: a fleet that asks a scripted server through the client of OpenAI. Leaves measuring to cache-meter.ts.
// C1  The life has real turns, memories, goals, profiles, ambient messages, two dreams and compactions, and a figure is
//     worth nothing without them: that each of them was there is a target.
// C2  The server answers a turn by itself. What nights and compactions ask is answered by the offline model.
// C3  Recall is asked the questions that belong to the turns, and the share of questions counts for which a turn that
//     holds the answer stands in the request that asked it.
// C4  The old layout lives the same life in a process of its own, and is compacted before the same turns: so both are asked
//     with windows and an index that hold the same.

import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import type { PromptMessage } from "@reverie/model"
import { Tokens } from "@reverie/model"
import { offlineModel } from "@reverie/model-offline"
import { type ModelRequest, type Script, type ScriptedReply, startModelServer } from "@reverie/testkit/model-server"
import { gptTokenizerLayer } from "@reverie/tokens"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, Fleet, selfTools } from "reverie"
import { conversationSayings, type Saying, type Sayings } from "./age-sayings.ts"
import { type Meter, openMeter, type Shares, sharesOf } from "./cache-meter.ts"
import { type Conversation, type Question, readConversations } from "./conversations.ts"

const ID = "friend"
const PROMPT =
  "You are an old friend of people who tell you about their days. Be brief, be kind, and remember what they tell you."
const EXTRACTION = "Save what matters of this conversation before it is summarised."
const SUMMARY = "Write a summary of this conversation."

const TURNS = 1_000
const SHORT_TURNS = 150
/** So that a thousand turns are compacted three times. */
const CONTEXT_TOKENS = 40_000
const SHORT_CONTEXT_TOKENS = 12_000
const QUESTIONS = 60
const EVERY = { ambient: 6, goal: 40, progress: 25, observation: 15 } as const
const SHARE = 0.95
/** What changes stands in front in it, in the order of ids. */
const OLD_LAYOUT = join(import.meta.dirname, "../attack/plants/changes-in-front.ts")
const RECALLED = 10
const PAGE = 500

type Purpose = "answers" | "questions" | "extraction" | "summaries" | "dreams"

export interface CacheReport {
  readonly ok: boolean
  readonly turns: number
  /** How many of them someone has really said; the others are the same again, of people of other names. */
  readonly turnsOnce: number
  readonly seconds: number
  /** Before these turns the history was compacted. */
  readonly compactedAt: ReadonlyArray<number>
  /** As it is laid out now, and as the same requests were laid out before. */
  readonly all: Layouts
  readonly purposes: Readonly<Record<string, Layouts>>
  /** Of the last tenth of the turns. */
  readonly lastAnswers: Layouts
  readonly recall: Recalled
  /** The same of the old layout, in a life that was compacted before the same turns, with its share of what repeats. */
  readonly recallBefore?: Recalled & { readonly share: number }
  readonly lived: Readonly<Record<string, number>>
  readonly targets: Readonly<Record<string, boolean>>
}

interface Recalled {
  readonly questions: number
  readonly "recall@10": number
  readonly evidenceShown: number
}

interface Layouts {
  readonly now: Shares
  readonly before: Shares
}

/** What the life does beside listening, as the turn says. */
interface Scene {
  place: number
  saying: Saying
  isQuestion: boolean
  readonly compacted: Set<number>
  goal: string | undefined
  goals: number
}

/** `isOrdered`: nothing is compacted but on an order. */
const fleetOf = (maxContextTokens: number, isOrdered: boolean) =>
  defineFleet({
    assistants: [
      defineAssistant({
        id: ID,
        instructions: PROMPT,
        persona: "You have known them for years. You never give advice that was not asked for.",
        tools: selfTools,
        maxContextTokens,
        settings: isOrdered ? { compactSleepRatio: 1, compactEmergencyRatio: 1 } : {},
        compaction: { preCompactPrompt: EXTRACTION, compactPrompt: SUMMARY }
      })
    ]
  })

const said = (content: unknown): string => (typeof content === "string" ? content : "")

const purposeOf = ({ messages }: ModelRequest, { isQuestion }: Scene): Purpose => {
  const [first, last] = [said(messages[0]?.content), said(messages.at(-1)?.content)]
  if (messages.some(({ content }) => said(content).includes(SUMMARY))) return "summaries"
  if (!first.includes(PROMPT)) return "dreams"
  if (messages.some(({ content }) => said(content).includes(EXTRACTION)) || last.includes(EXTRACTION))
    return "extraction"
  return isQuestion ? "questions" : "answers"
}

const callOf = (scene: Scene): ScriptedReply["calls"] => {
  const { goal, place, saying } = scene
  const about = saying.text.replace(/[^\p{L}\p{N} ]/gu, "").slice(0, 90)
  if (place % EVERY.goal === 1) return [{ tool: "add_goal", arguments: { description: `Ask again about: ${about}` } }]
  if (place % EVERY.progress === 2 && goal !== undefined) {
    return [{ tool: "update_goal", arguments: { goal_id: goal, progress: Math.min(99, place % 100) } }]
  }
  if (place % EVERY.observation !== 3) return undefined
  const observation = `${saying.from} spoke of ${about}`
  return [{ tool: "update_entity_observation", arguments: { entity: saying.from, observation, type: "person" } }]
}

const answered = (scene: Scene, { messages }: ModelRequest): ScriptedReply => {
  const last = messages.at(-1)
  if (last?.role === "tool") {
    const goal = /goal_\w+/.exec(said(last.content))?.[0]
    if (goal !== undefined && goal !== scene.goal) scene.goals++
    scene.goal = goal ?? scene.goal
  }
  const calls = last?.role === "tool" || scene.isQuestion ? undefined : callOf(scene)
  if (calls !== undefined) return { calls }
  const { from, text } = scene.saying
  return { text: `I hear you, ${from}. ${text.slice(0, 140)} That is good to know, and I will think of it.` }
}

const offline = offlineModel()

const offlineReply = ({ messages, tools }: ModelRequest): ScriptedReply => {
  const prompt = {
    messages: messages.map(({ content, role }): PromptMessage => ({
      role: role as PromptMessage["role"],
      content: said(content)
    })),
    tools: tools.map((name) => ({ name, description: name, parameters: { type: "object" } })),
    callPrefix: "bench"
  }
  const { calls, text } = Effect.runSync(offline.infer(prompt))
  return {
    text,
    ...(calls.length === 0 ? {} : { calls: calls.map(({ arguments: args, tool }) => ({ tool, arguments: args })) })
  }
}

const scripted =
  (scene: Scene, meter: Meter, asked: (request: ModelRequest) => void): Script =>
  (request) => {
    const purpose = purposeOf(request, scene)
    const dream = purpose === "dreams" ? ` ${said(request.messages[0]?.content).slice(0, 60)}` : ""
    meter.measure(`${purpose}${dream}`, request)
    if (purpose === "summaries" && !scene.isQuestion) scene.compacted.add(scene.place)
    if (purpose === "questions") asked(request)
    return purpose === "answers" || purpose === "questions" ? answered(scene, request) : offlineReply(request)
  }

interface Life {
  readonly fleet: Fleet
  readonly scene: Scene
  readonly sayings: Sayings
  readonly turns: number
  readonly idOf: ReadonlyMap<number, string>
  /** Turns before which a compaction is ordered. */
  readonly compactAt: ReadonlySet<number>
}

/** One turn after the other, with what is overheard between them and two nights. */
const live = async ({ compactAt, fleet, idOf, sayings, scene, turns }: Life): Promise<void> => {
  const nights = new Set([Math.floor(turns / 3), Math.floor((2 * turns) / 3)])
  for (let place = 0; place < turns; place++) {
    scene.place = place
    scene.saying = sayings.at(place)
    if (compactAt.has(place)) {
      await fleet.post(ID, { type: "compact" })
      await fleet.idle()
    }
    const { from, text } = scene.saying
    if (place % EVERY.ambient === 0) {
      const nearby = `Someone by the window says that it is ${place} steps to the ${text.split(" ").at(-1)}`
      await fleet.post(ID, { type: "message", text: nearby, channel: "room:kitchen" }, { from: "Robin" })
    }
    await fleet.answer(ID, text, { from, id: idOf.get(place) ?? `turn ${place}` })
    if (nights.has(place)) {
      await fleet.post(ID, { type: "sleep" })
      await fleet.idle()
    }
  }
}

/** For the place of a message in the ledger, `m/<entry>/<index>`, the turn it is. */
const turnsByPlace = async (fleet: Fleet): Promise<ReadonlyMap<string, string>> => {
  const turns = new Map<string, string>()
  for (let from = 1; ; from += PAGE) {
    const rows = await fleet.history.entries(ID, from, PAGE)
    for (const { entry } of rows) {
      const index = entry.messages.findIndex(({ role }) => role === "user")
      if (entry.cause.kind === "envelope" && index >= 0) turns.set(`m/${entry.no}/${index}`, entry.cause.id)
    }
    if (rows.length < PAGE) return turns
  }
}

const foundBy = async (fleet: Fleet, questions: ReadonlyArray<Question>): Promise<number> => {
  const turns = await turnsByPlace(fleet)
  let sum = 0
  for (const { evidence, question } of questions) {
    const { hits } = await fleet.memory.recall(ID, question, { limit: RECALLED, kinds: ["message"] })
    const found = new Set(hits.map(({ entry }) => turns.get(entry.id)))
    const wanted = [...new Set(evidence)]
    sum += wanted.filter((id) => found.has(id)).length / wanted.length
  }
  return sum / Math.max(1, questions.length)
}

/** The share of questions for which a turn with the answer stood in the request. */
const shownFor = async (
  { fleet, scene }: Life,
  questions: ReadonlyArray<Question>,
  textOf: ReadonlyMap<string, string>,
  requestNow: () => ModelRequest | undefined
): Promise<number> => {
  scene.isQuestion = true
  let shown = 0
  for (const { evidence, question } of questions) {
    scene.saying = { from: "Alex", text: question }
    await fleet.answer(ID, question, { from: "Alex" })
    const whole = (requestNow()?.messages ?? []).map(({ content }) => said(content)).join("\n")
    if (evidence.some((id) => whole.includes((textOf.get(id) ?? "\u0000").slice(0, 60)))) shown++
  }
  return shown / Math.max(1, questions.length)
}

const layoutsOf = (meter: Meter, isIn: (purpose: string, index: number) => boolean): Layouts => ({
  now: sharesOf(meter.now.filter(({ purpose }, index) => isIn(purpose, index))),
  before: sharesOf(meter.before.filter(({ purpose }, index) => isIn(purpose, index)))
})

const purposesOf = (meter: Meter): Readonly<Record<string, Layouts>> => {
  const purposes = ["answers", "questions", "extraction", "summaries", "dreams"] as const
  return Object.fromEntries(
    purposes.map((each) => [each, layoutsOf(meter, (purpose) => purpose.split(" ")[0] === each)])
  )
}

const livedIn = async (fleet: Fleet) => {
  const count = async (kind: "goal" | "entity" | "fact" | "ambientMessages" | "compaction" | "dream") =>
    (await fleet.memory.records(ID, [kind])).length
  return {
    goals: await count("goal"),
    profiles: await count("entity"),
    facts: await count("fact"),
    ambientMessages: await count("ambientMessages"),
    compactions: await count("compaction"),
    dreams: await count("dream")
  }
}

/** As a report is printed, and as the figures of the other process come. */
const inThousandths = (share: number): number => Math.round(share * 1_000) / 1_000

const targetsOf = (
  report: Omit<CacheReport, "ok" | "targets">,
  isShort: boolean
): Readonly<Record<string, boolean>> => {
  const { all, lived, purposes, recall, recallBefore } = report
  const { compactions = 0, dreams = 0, ...kept } = lived
  const found = {
    "something is recalled": recall["recall@10"] > 0 && recall.evidenceShown > 0,
    "two dreams": dreams >= 2,
    "goals, profiles, facts and ambient messages": Object.values(kept).every((count) => count > 0),
    "the input costs less than in the old layout": all.now.cost < all.before.cost
  }
  if (isShort) return found
  return {
    ...found,
    [`${SHARE} of all that is sent repeats the beginning of the request before it`]: all.now.share >= SHARE,
    [`${SHARE} of what answers are asked with`]: (purposes["answers"]?.now.share ?? 0) >= SHARE,
    "recall@10 and the evidence shown are not lower than in the old layout, compacted before the same turns":
      // One that repeats as much is no old layout.
      recallBefore !== undefined &&
      recallBefore.share < all.now.share &&
      inThousandths(recall["recall@10"]) >= recallBefore["recall@10"] &&
      inThousandths(recall.evidenceShown) >= recallBefore.evidenceShown,
    "three compactions": compactions >= 3
  }
}

const idsOf = (conversations: ReadonlyArray<Conversation>): ReadonlyMap<number, string> =>
  new Map(conversations.flatMap(({ turns }) => turns).map(({ id }, place) => [place, id]))

/** Questions about what was said in these turns, spread over all of them. */
const questionsOf = (conversations: ReadonlyArray<Conversation>, turns: number): ReadonlyArray<Question> => {
  const told = new Set([...idsOf(conversations).values()].slice(0, turns))
  return conversations
    .flatMap(({ questions }) => questions)
    .filter(({ evidence }) => evidence.every((id) => told.has(id)))
}

const spread = <A>(items: ReadonlyArray<A>, most: number): ReadonlyArray<A> => {
  const step = Math.max(1, Math.floor(items.length / most))
  return items.filter((_, index) => index % step === 0).slice(0, most)
}

/** The report of a process that lays prompts out as before. */
const inOldLayout = async (
  data: string,
  isShort: boolean,
  compactedAt: ReadonlyArray<number>
): Promise<CacheReport> => {
  const args = ["cache", "--data", data, "--json", "--compact-at", compactedAt.join(), ...(isShort ? ["--short"] : [])]
  const flags = ["--disable-warning=ExperimentalWarning", "--import", OLD_LAYOUT]
  const asked = promisify(execFile)(process.execPath, [...flags, join(import.meta.dirname, "main.ts"), ...args], {
    maxBuffer: 2 ** 24
  })
  // It misses the targets of the new one, and ends with that.
  const { stdout } = await asked.catch((failure: { readonly stdout: string }) => failure)
  return JSON.parse(stdout) as CacheReport
}

/** `compactAt`: this is the old layout, which is compacted before these turns and is compared with no other. */
export const benchCache = async (
  data: string,
  isShort: boolean,
  compactAt?: ReadonlyArray<number>
): Promise<CacheReport> => {
  const own = await oneLife(data, isShort, compactAt)
  const before = compactAt === undefined ? await inOldLayout(data, isShort, own.compactedAt) : undefined
  const recallBefore = before === undefined ? {} : { recallBefore: { ...before.recall, share: before.all.now.share } }
  const report = { ...own, ...recallBefore }
  const targets = targetsOf(report, isShort)
  return { ok: Object.values(targets).every(Boolean), ...report, targets }
}

const oneLife = async (data: string, isShort: boolean, compactAt?: ReadonlyArray<number>) => {
  const conversations = await readConversations(data)
  const sayings = await conversationSayings(data)
  const turns = isShort ? SHORT_TURNS : TURNS
  const meter = openMeter(
    await Effect.runPromise(Tokens.use(({ ready }) => ready).pipe(Effect.provide(gptTokenizerLayer)))
  )
  const scene: Scene = {
    place: 0,
    saying: sayings.at(0),
    isQuestion: false,
    compacted: new Set(),
    goal: undefined,
    goals: 0
  }
  let request: ModelRequest | undefined
  const server = await startModelServer({ script: scripted(scene, meter, (asked) => (request = asked)), record: false })
  const directory = await mkdtemp(join(tmpdir(), "reverie-bench-cache-"))
  const start = performance.now()
  try {
    await using fleet = await Fleet.open({
      data: directory,
      fleet: fleetOf(isShort ? SHORT_CONTEXT_TOKENS : CONTEXT_TOKENS, compactAt !== undefined),
      model: { baseURL: server.url, model: "bench", stream: false },
      durability: "normal"
    })
    const life: Life = { fleet, scene, sayings, turns, idOf: idsOf(conversations), compactAt: new Set(compactAt) }
    await live(life)
    const lastFrom = meter.now.length - Math.ceil(meter.now.length / 10)
    const lived = await livedIn(fleet)
    const questions = questionsOf(conversations, turns)
    const recalled = await foundBy(fleet, questions)
    const texts = new Map(conversations.flatMap((each) => each.turns).map(({ id, text }) => [id, text]))
    const shown = await shownFor(life, spread(questions, QUESTIONS), texts, () => request)
    return {
      turns,
      turnsOnce: Math.min(turns, texts.size),
      seconds: (performance.now() - start) / 1_000,
      compactedAt: [...scene.compacted],
      all: layoutsOf(meter, () => true),
      purposes: purposesOf(meter),
      lastAnswers: layoutsOf(meter, (purpose, index) => purpose === "answers" && index >= lastFrom),
      recall: { questions: questions.length, "recall@10": recalled, evidenceShown: shown },
      lived
    }
  } finally {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  }
}
