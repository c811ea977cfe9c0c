// Fixtures: what an assistant has lived, put away in a file, and judged again with another prompt or model.
// Owns the fixtures of dreams and compactions, and going through any again. Leaves the case of a tick and living to forking/.
// R1  A fixture is JSON and stands alone: no store, no key and no clock is needed to go through it.
// R2  A request that is the same as the recorded one (fixtures.ts) is answered with the recorded answer, and costs nothing;
//     every other one is asked, and counted. Where no model is named to ask it is refused, and the result says so.
// R3  No tool runs: calls are answered as they were, or by stubs.
// R4  Of a dream or a compaction the ledger keeps what came of the model's answers, not the answers. Their fixtures are made
//     of recorded calls, and are the requests and answers alone.

import { type Model, ModelRefused, type Prompt, type Reply } from "@reverie/model"
import { defined, isJsonObject, parseJson } from "@reverie/protocol"
import { recordedModel, type RecordedTick, type ToolStub } from "@reverie/runtime"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Clock from "effect/Clock"
import type { AssistantDefinition } from "../define-assistant.ts"
import { defineFleet, type FleetDefinition } from "../fleet-options.ts"
import type { Fleet } from "../fleet.ts"
import { compareTicks, type ForkComparison } from "../forking/digest.ts"
import { readFixture, sourceOfFixture } from "../forking/fixture.ts"
import { digestOfLived } from "../forking/fork.ts"
import { liveAgain } from "../forking/sandbox.ts"
import { CASE_VERSION, iterationIn, requestHash, type TickCase, tickCase } from "../forking/tick-case.ts"
import type { ModelChoice } from "../models/model-choice.ts"
import type { TickView } from "../timeline/tick-view.ts"
import { FixtureRefused } from "./errors.ts"
import { openModel } from "../models/open-model.ts"
import { COMPACTION_CALL, type Purpose, purposeOf } from "./scripted-model.ts"
import type { ModelCall } from "./stage.ts"

// Recording: calls of a model as they were made, to be answered again without asking anybody.
// R1  Two requests are the same when their messages, tools and limits are, byte for byte, and the model that is asked is the
//     one that answered then. How the calls of the reply are to be named is no part of it.
// R2  Recording changes no answer, and keeps a failure as well as a reply.

/** JSON through and through. */
export interface RecordedCall {
  /** What the model was asked for. */
  readonly purpose: Purpose
  /** Milliseconds since the epoch, by the clock of the fleet. */
  readonly at: number
  /** What it was shown. */
  readonly request: Prompt
  /** Absent as long as there is none, and of a call that failed. */
  readonly reply?: Reply
  /** What the call failed with, in words. */
  readonly failure?: string
}

/** True when the model that would be asked is the one that answered: providers put dates behind names. */
const isSameModel = (answered: string, asked: string | undefined): boolean =>
  asked !== undefined && asked !== "" && answered.startsWith(asked)

/** A model that keeps every call. */
export interface RecordingModel extends Readonly<Model["Service"]> {
  /** Every call so far, in the order in which they began. */
  readonly calls: ReadonlyArray<RecordedCall>
  /** Closes the connections of the model that answers. */
  readonly close: () => Promise<void>
}

/**
 * The same model, with every call kept: a dream and a compaction do not leave the model's answers in their ledger, and can
 * be made fixtures of only where they were recorded. It keeps whole prompts in memory: for the time of a recording.
 * @example
 * const model = await recordingModel({ baseURL: "http://127.0.0.1:8000/v1", model: "gpt-5-mini" })
 * await using fleet = await Fleet.open({ fleet: harbour, model })
 */
export const recordingModel = async (choice: ModelChoice): Promise<RecordingModel> => {
  const calls: Array<RecordedCall> = []
  const { close, model } = await openModel(choice)
  const infer: Model["Service"]["infer"] = (request, options) =>
    Effect.gen(function* () {
      const call: RecordedCall = {
        purpose: purposeOf(request),
        at: yield* Clock.currentTimeMillis,
        request: structuredClone(request)
      }
      const index = calls.push(call) - 1
      const note = (end: Pick<RecordedCall, "reply" | "failure">) =>
        Effect.sync(() => {
          calls[index] = { ...call, ...end }
        })
      return yield* model.infer(request, options).pipe(
        Effect.tap((reply) => note({ reply })),
        Effect.tapError(({ _tag, message }) => note({ failure: `${_tag}: ${message}` }))
      )
    })
  const { circuit, serves } = model
  return { infer, calls, close, ...defined({ circuit, serves }) }
}

/** A dream or a compaction: what the model was asked and what it answered. */
export interface MemoryCase {
  /** The version of this form. */
  readonly v: typeof CASE_VERSION
  /** What the model was asked for. */
  readonly kind: "dream" | "compaction"
  /** The id of the assistant. */
  readonly assistant: string
  /** The number of the dream, or of the tick before the compaction. */
  readonly tick: number
  /** What was asked, and what came back, in their order. */
  readonly calls: ReadonlyArray<RecordedCall>
}

/** Something that was lived, as a file keeps it. */
export type Fixture = TickCase | MemoryCase

const refuse = (message: string): never => {
  throw new FixtureRefused({ message })
}

const PAGE = 500

/** The dream or the compaction of a tick number; undefined when there is none. */
const spanOf = async (fleet: Pick<Fleet, "history">, id: string, kind: MemoryCase["kind"], tick: number) => {
  for (let before: number | undefined; ;) {
    const page = await fleet.history.ticks(id, before === undefined ? { limit: PAGE } : { limit: PAGE, before })
    const found = page.ticks.find((view) => view.kind === kind && view.tick === tick)
    if (found !== undefined || page.next === null) return found
    before = page.next
  }
}

/** The calls that belong to a span, by how it names the calls of its replies. */
const callsOfSpan = ({ commits, kind, tick }: TickView, calls: ReadonlyArray<RecordedCall>) =>
  calls.filter(({ request: { callPrefix } }) => {
    if (kind === "dream") return callPrefix.startsWith(`dream.${tick}.`)
    const [, no] = COMPACTION_CALL.exec(callPrefix) ?? []
    return no !== undefined && Number(no) >= commits.from && Number(no) <= commits.to
  })

const memoryCase = (assistant: string, span: TickView, recorded: ReadonlyArray<RecordedCall>): MemoryCase => {
  const { kind, tick } = span
  const calls = callsOfSpan(span, recorded)
  const names = calls.map(({ request }) => `${request.callPrefix} ${requestHash(request)}`)
  const prefixes = new Set(calls.map(({ request }) => request.callPrefix))
  if (new Set(names).size > prefixes.size) {
    refuse(`several assistants had a ${kind} of this number: record ${assistant} in a fleet of its own`)
  }
  if (calls.length === 0 && span.steps.some(({ usage }) => usage !== undefined)) {
    refuse(
      `the answers of a ${kind} are not kept in the ledger: live it with testFleet or recordingModel, and give its calls`
    )
  }
  return { v: CASE_VERSION, kind: kind === "dream" ? "dream" : "compaction", assistant, tick, calls }
}

const recordedCallOf = ({ at, failure, prompt, purpose, reply }: ModelCall): RecordedCall => ({
  purpose,
  at,
  request: prompt,
  ...defined({ failure, reply })
})

/** Where the calls of a dream or a compaction are taken from. */
export interface FixtureSource {
  /** The calls of a `recordingModel`; those of a test fleet when not said. */
  readonly calls?: ReadonlyArray<RecordedCall>
}

/** A number: the tick or the dream of this number, as `fleet.ticks` tells it. */
export type Lived = number | { readonly compaction: number }

/**
 * Puts away what an assistant has lived: a tick (one that a message or a timer began, and that has ended), a dream or a
 * compaction. A tick carries its whole life before it, up to 5,000 commits. Rejects with FixtureRefused, ForkRefused or UnknownAssistant, in one sentence.
 * @example
 * const text = JSON.stringify(await fixtureOf(fleet, "desk", 12))
 */
export const fixtureOf = async (
  fleet: Fleet & { readonly modelCalls?: ReadonlyArray<ModelCall> },
  id: string,
  lived: Lived,
  { calls }: FixtureSource = {}
): Promise<Fixture> => {
  const recorded = calls ?? (fleet.modelCalls ?? []).map(recordedCallOf)
  if (typeof lived !== "number") {
    const span = await spanOf(fleet, id, "compaction", lived.compaction)
    return span === undefined
      ? refuse(`${id} had no compaction in tick ${lived.compaction}`)
      : memoryCase(id, span, recorded)
  }
  const isTick = (await fleet.history.tick(id, lived))?.kind === "tick"
  const dream = isTick ? undefined : await spanOf(fleet, id, "dream", lived)
  return dream === undefined ? tickCase(fleet, fleet.definition, id, lived) : memoryCase(id, dream, recorded)
}

/** A fixture out of a file: its text or its JSON. Throws FixtureRefused or ForkRefused with one sentence. */
export const fixtureFrom = (file: unknown): Fixture => {
  const value = typeof file === "string" ? Result.getOrElse(parseJson(file), () => undefined) : file
  if (!isJsonObject(value) || value["v"] !== CASE_VERSION) return refuse(`it is no fixture of version ${CASE_VERSION}`)
  const fixture = value as unknown as Fixture
  if (fixture.kind === "tick") {
    if (!Array.isArray(fixture.requests)) refuse("its requests are no list")
    return { ...fixture, recorded: readFixture(fixture.recorded) }
  }
  const isKnown = fixture.kind === "dream" || fixture.kind === "compaction"
  return isKnown && Array.isArray(fixture.calls) ? fixture : refuse("it is neither a tick nor a dream nor a compaction")
}

/** What is changed when a fixture is gone through again. */
export interface ReplayRequest {
  /** The definitions of today: of the assistant, or of its whole fleet. Of a dream or a compaction nothing is asked of it. */
  readonly fleet?: FleetDefinition | AssistantDefinition
  /** In the place of what the definition says. */
  readonly instructions?: string
  /** In the place of the persona of the definition. */
  readonly persona?: string
  /** Who is asked what was not asked then. Without it such a request is refused. */
  readonly model?: ModelChoice
  /** changed: only what is not the same as then. all: everything. "changed" when not said. */
  readonly asks?: "changed" | "all"
  /** Results of tools in the place of recorded ones. */
  readonly stubs?: ReadonlyArray<ToolStub>
}

/** What going through a fixture again came to. */
export interface Replayed {
  /** Everything is as it was. */
  readonly isSame: boolean
  /** Requests answered with the recorded answer, and requests that were asked. */
  readonly reused: number
  /** Requests that were asked of the model now. */
  readonly asked: number
  /** Used by what was asked. */
  readonly tokens: { readonly input: number; readonly output: number }
  /** What the tick, or the model of a dream, said then and says now. */
  readonly before: string
  /** What is said now. */
  readonly after: string
  /** Of a tick: every difference, as `fleet.fork` tells it. */
  readonly comparison?: ForkComparison
}

/** Counts what is asked, and answers what is not. */
class Judge {
  reused = 0
  asked = 0
  readonly tokens = { input: 0, output: 0 }
  readonly #model: Model["Service"] | undefined
  readonly #asksAll: boolean

  constructor(model: Model["Service"] | undefined, asksAll: boolean) {
    this.#model = model
    this.#asksAll = asksAll
  }

  mayReuse(answeredBy: string | undefined, prompt: Prompt): boolean {
    if (this.#model === undefined) return true
    const asked = prompt.model ?? this.#model.serves?.model
    return !this.#asksAll && (answeredBy === undefined || isSameModel(answeredBy, asked))
  }

  ask(...call: Parameters<Model["Service"]["infer"]>): ReturnType<Model["Service"]["infer"]> {
    if (this.#model === undefined) {
      const message = "this request is not the recorded one, and no model was named to ask"
      return Effect.fail(new ModelRefused({ provider: "fixture", kind: "bad-request", message }))
    }
    this.asked++
    return Effect.tap(this.#model.infer(...call), ({ usage }) =>
      Effect.sync(() => {
        this.tokens.input += usage.inputTokens
        this.tokens.output += usage.outputTokens
      })
    )
  }
}

const modelIn = ({ entry }: RecordedTick["asks"][number]): string | undefined => {
  const model = entry.step?.detail?.["model"]
  return typeof model === "string" ? model : undefined
}

/** The recorded answers to the same requests; others are asked. Of an iteration, each try has its own. */
const judgedBy = (judge: Judge, { requests }: TickCase, { asks }: RecordedTick): Model["Service"] => {
  const tries = new Map<number, number>()
  return {
    infer: (prompt, options) =>
      Effect.suspend(() => {
        const iteration = iterationIn(prompt)
        const attempt = tries.get(iteration) ?? 0
        tries.set(iteration, attempt + 1)
        const ask = asks.filter((each) => each.iteration === iteration)[attempt]
        const request = requests.filter((each) => each.iteration === iteration)[attempt]
        const isSame = ask !== undefined && request?.sha256 === requestHash(prompt)
        if (!isSame || !judge.mayReuse(modelIn(ask), prompt)) return judge.ask(prompt, options)
        judge.reused++
        return recordedModel([ask]).infer(prompt, options)
      })
  }
}

const tickAgain = async (fixture: TickCase, judge: Judge, request: ReplayRequest): Promise<Replayed> => {
  // What the case itself changes holds where nothing else is said.
  const { changes: kept = {} } = fixture
  const { persona, instructions: prompt = kept.instructions, stubs = kept.stubs } = request
  if (request.fleet === undefined) return refuse("a tick is lived again by a definition: say `fleet`")
  const fleet = "assistants" in request.fleet ? request.fleet : defineFleet({ assistants: [request.fleet] })
  const source = await sourceOfFixture(fixture.recorded)
  const model = judgedBy(judge, fixture, source.recorded)
  const changes = defined({ persona, stubs, systemPrompt: prompt })
  const lived = await liveAgain(source, { fleet, model, order: "free", ...changes })
  const comparison = compareTicks(fixture.recorded.expected, digestOfLived(source, fleet, lived))
  const { asked, reused, tokens } = judge
  const [before, after] = [comparison.original.reply, comparison.forked.reply]
  return { isSame: comparison.differs.length === 0, reused, asked, tokens, before, after, comparison }
}

const answersAgain = async ({ calls }: MemoryCase, judge: Judge): Promise<Replayed> => {
  const texts: Array<string> = []
  for (const { reply, request } of calls) {
    const isReused = judge.mayReuse(reply?.model, request)
    if (isReused) judge.reused++
    texts.push(isReused ? (reply?.text ?? "") : (await Effect.runPromise(judge.ask(request))).text)
  }
  const before = calls.map(({ reply }) => reply?.text ?? "").join("\n")
  const after = texts.join("\n")
  const { asked, reused, tokens } = judge
  return { isSame: before === after, reused, asked, tokens, before, after }
}

/**
 * Goes through a fixture again with the definitions of today, another prompt or another model. What was asked in the very
 * same words of the same model is answered from the fixture, with no token used; the rest is asked of `model`.
 * Rejects with FixtureRefused or ForkRefused, and with what the model of a dream fails with.
 * @example
 * const { after, isSame, tokens } = await replayFixture(fixture, { fleet: desk, instructions: "Be brief.", model: "offline" })
 */
export const replayFixture = async (fixture: Fixture, request: ReplayRequest = {}): Promise<Replayed> => {
  const opened = request.model === undefined ? undefined : await openModel(request.model)
  const judge = new Judge(opened?.model, request.asks === "all")
  try {
    return await (fixture.kind === "tick" ? tickAgain(fixture, judge, request) : answersAgain(fixture, judge))
  } finally {
    await opened?.close()
  }
}
