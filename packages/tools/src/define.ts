// Define: how a user writes a tool.
// Owns the checks of a definition and the way from a plain function to a `Tool`. Leaves running it to `execute.ts`.
// I1  A wrong definition throws at once, with one sentence that names the tool.
// I2  The function of the user may be plain or async, may throw, and sees no Effect.
// I3  A tool that runs in a process of its own names a module: a function cannot be sent there.

import type { BlockView } from "@reverie/memory"
import { defined, type Json, type ToolCategory, unknownName } from "@reverie/protocol"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ToolOffer } from "@reverie/model"
import { ToolDefinitionInvalid } from "./errors.ts"
import { acceptInput, type ArgumentsOf, type GivenTo, type ToolInput } from "./schema/input.ts"
import { CurrentWatch, RunPlace } from "./run-place.ts"
import { clipped } from "./results/sentences.ts"
import { type CachePolicy, DEFAULT_TOOL_TIMEOUT_MILLIS, type IsolatedModule, type Tool, type ToolRun } from "./tool.ts"

/** What a timer can wait for at most, about 24 days. */
const MAX_TOOL_TIMEOUT_MILLIS = 2 ** 31 - 1

/** What the process of an isolated run may use. */
export interface IsolateOptions {
  /** Beyond what the process needs itself; 256 when not said. */
  readonly memoryMb?: number
}

/** What `defineTool` takes for a tool that runs in this process. */
export interface ToolDefinition<Input extends ToolInput | undefined, Output = unknown> extends ToolBasics<Input> {
  /** The tool runs in this process. */
  readonly isolate?: false
  /**
   * What the tool does: gives a text or any JSON value, or nothing; directly or as a promise. What it throws, the model reads.
   * The arguments have passed `input` and have its type.
   */
  readonly run: (args: ArgumentsOf<Input>, run: ToolRun) => Output
}

/** Each call runs in a process of its own: it may block, exit, crash or use up its memory, and hurts nothing else. */
export interface IsolatedToolDefinition<Input extends ToolInput | undefined> extends ToolBasics<Input> {
  /** `true` is `{ memoryMb: 256 }`. */
  readonly isolate: true | IsolateOptions
  /** `new URL("./tool.ts", import.meta.url)`: a module whose default export is the function, `(args, run: IsolatedRun)`. */
  readonly run: URL
}

/** What every definition of a tool has. */
export interface ToolBasics<Input extends ToolInput | undefined> {
  /** What the model calls it: letters, digits, `_` and `-`, beginning with a letter, at most 64 characters. */
  readonly name: string
  /** Read by the model: what the tool does and when to use it. */
  readonly description: string
  /** What the tool takes: an Effect Schema, a Standard Schema that gives JSON Schema, or a JSON Schema. Without it, nothing. */
  readonly input?: Input
  /**
   * A person approves each call before it runs (`true`), or the calls for which the function says so. It gets arguments that fit
   * `input`, as the model wrote them, and the memory blocks of the assistant; when it throws, approval is needed. False when left out.
   */
  readonly needsApproval?: boolean | ((args: GivenTo<Input>, blocks: ReadonlyArray<BlockView>) => boolean)
  /** A call that succeeds ends the tick: the model is not asked again. False when left out; not together with `needsApproval`. */
  readonly final?: boolean
  /**
   * The work goes on outside after `run` has returned; its result comes later as a `report` event with the id of the call.
   * False when left out; not together with `needsApproval` or `final`.
   */
  readonly background?: boolean
  /** Longest run, in milliseconds; 30,000 when left out, at most 2,147,483,647. */
  readonly timeoutMs?: number
  /** A second run with the same `key` does no more than the first; it is then run again after a crash. False when left out. */
  readonly idempotent?: boolean
  /** It reads or changes `run.records`: such runs of one assistant never overlap. False when left out. */
  readonly usesRecords?: boolean
  /** How long a result may stand for an equal call. Not at all when left out; only for a tool that is none of the three above. */
  readonly cache?: CachePolicy
}

/** A tool that runs in this process, with its function to be called in a unit test. */
export interface DefinedTool<Args, Output> extends Tool {
  /**
   * Calls the function of the tool with plain values: no schema check, no deadline, no fleet. What the second argument leaves
   * out is a stand-in; `send` and `records` have none and throw. `runTool` of `reverie/testing` runs it as a fleet would.
   * @example const berth = await findBerth.run({ metres: 95 })
   */
  readonly run: (
    // The empty object is meant.
    // oxlint-disable-next-line typescript/no-generated-empty-object-type
    ...args: Record<never, never> extends Args
      ? [args?: Args, given?: Partial<ToolRun>]
      : [args: Args, given?: Partial<ToolRun>]
  ) => Promise<Awaited<Output>>
}

/** Of any input, as the checks look at it. */
type AnyDefinition = Omit<ToolBasics<undefined>, "input"> & {
  readonly input?: unknown
  readonly isolate?: unknown
  readonly run: unknown
}

/** What every provider of models takes for the name of a function. */
const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/
export const TOOL_NAME_FORM = "begin with a letter and have only letters, digits, _ and -, at most 64 characters"
export const isToolName = (name: string): boolean => TOOL_NAME.test(name)

const DEFAULT_MEMORY_MB = 256
const MIN_MEMORY_MB = 16

/**
 * Describes a tool. The arguments of `run` have the type of `input`, also when that is a JSON Schema written in place.
 * @throws ToolDefinitionInvalid with one sentence that names the tool and what is wrong with it
 * @example
 * const findBerth = defineTool({
 *   name: "findBerth",
 *   description: "Finds a free berth for a ship of the given length in metres.",
 *   input: { type: "object", properties: { metres: { type: "number" } }, required: ["metres"] },
 *   run: ({ metres }) => (metres > 80 ? "berth 7, from noon" : "berth 2, now")
 * })
 */
export function defineTool<const Input extends ToolInput | undefined = undefined, Output = unknown>(
  definition: ToolDefinition<Input, Output>
): DefinedTool<ArgumentsOf<Input>, Output>
export function defineTool<const Input extends ToolInput | undefined = undefined>(
  definition: IsolatedToolDefinition<Input>
): Tool
export function defineTool(definition: AnyDefinition): Tool {
  const { cache, description, idempotent = false, name, usesRecords = false } = definition
  const { timeoutMs = DEFAULT_TOOL_TIMEOUT_MILLIS } = definition
  const input = flawOf(definition) ?? acceptInput(definition.input)
  if (typeof input === "string") {
    const given: unknown = name
    const tool = clipped(String(given), 64)
    throw new ToolDefinitionInvalid({ tool, message: `tool ${JSON.stringify(tool)}: ${input}` })
  }
  const isolated = isolatedIn(definition)
  const needsConsent = consentOf(definition)
  return Object.freeze({
    name,
    description,
    category: categoryOf(definition),
    idempotent,
    usesRecords,
    timeoutMs,
    ...defined({ needsConsent, cache: cache === undefined ? undefined : Object.freeze({ ...cache }), isolated }),
    parameters: input.parameters,
    validate: input.validate,
    effect: isolated === undefined ? runHere(definition.run) : runElsewhere(name, timeoutMs, isolated),
    ...defined({ run: isolated === undefined ? called(definition.run) : undefined })
  })
}

/** The stored word for what the booleans of a definition say. */
const categoryOf = ({ background, final, needsApproval }: AnyDefinition): ToolCategory => {
  if (needsApproval === true) return "dangerous"
  if (final === true) return "terminal"
  return background === true ? "async_required" : "safe_chain"
}

const consentOf = ({ needsApproval }: AnyDefinition): Tool["needsConsent"] => {
  if (typeof needsApproval !== "function") return undefined
  const asks = needsApproval as (args: Json, blocks: ReadonlyArray<BlockView>) => boolean
  return (args, blocks) => {
    try {
      return asks(args, blocks)
    } catch {
      // Arguments that it can not judge are shown to a person.
      return true
    }
  }
}

const absent = (what: string): never => {
  throw new Error(`there is no ${what} in a plain call of the tool: give it in the second argument, or use runTool`)
}

/** Each member that is used and was not given throws with its name. */
const absentRecords = (): ToolRun["records"] =>
  new Proxy({} as ToolRun["records"], { get: (_, member) => absent(`records.${String(member)}`) })

const called = (run: unknown): DefinedTool<unknown, unknown>["run"] => {
  const call = run as (args: unknown, run: ToolRun) => unknown
  return async (args: unknown = {}, given: Partial<ToolRun> = {}) =>
    call(args, {
      assistant: "tester" as ToolRun["assistant"],
      tenant: "default",
      call: "1.1.0",
      key: "test",
      signal: new AbortController().signal,
      now: Effect.runSync(Clock.currentTimeMillis),
      send: () => absent("send"),
      reach: () => absent("reach"),
      mayNotWrite: () => undefined,
      records: given.records ?? absentRecords(),
      ...given
    })
}

/** `validate` gives what the schema decodes to, which is what `ArgumentsOf` says. */
const runHere = (run: unknown): Tool["effect"] => {
  const call = run as (args: unknown, run: ToolRun) => unknown
  return (args, toolRun) =>
    Effect.flatMap(CurrentWatch, ({ inside }) => started(() => inside(() => call(args, toolRun))))
}

const runElsewhere =
  (tool: string, timeoutMs: number, isolated: IsolatedModule): Tool["effect"] =>
  (args, run) =>
    Effect.flatMap(RunPlace, (place) => place.isolated({ ...isolated, tool, timeoutMs, args, run }))

/** Only of a definition without a flaw. */
const isolatedIn = ({ isolate = false, run }: AnyDefinition): IsolatedModule | undefined => {
  if (isolate === false) return undefined
  const { memoryMb = DEFAULT_MEMORY_MB } = isolate === true ? {} : (isolate as IsolateOptions)
  return Object.freeze({ module: String(run), memoryMb })
}

/** Calls a function of the user, and waits for what it promises. */
export const started = (begin: () => unknown): Effect.Effect<unknown, unknown> => {
  try {
    const value = begin()
    if (!isThenable(value)) return Effect.succeed(value)
    // I2: what a user's function throws has no type to promise.
    // @effect-diagnostics-next-line unknownInEffectCatch:off
    return Effect.tryPromise({ try: () => value, catch: (thrown) => thrown })
  } catch (thrown) {
    return Effect.fail(thrown)
  }
}

const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"

const basics = [
  "name",
  "description",
  "input",
  "needsApproval",
  "final",
  "background",
  "timeoutMs",
  "idempotent"
] as const
const known = [...basics, "usesRecords", "cache", "isolate", "run"] satisfies ReadonlyArray<keyof AnyDefinition>

/** A name that an object of the user has and none such has, in words that follow on it. */
const strangeIn = (given: object, names: ReadonlyArray<string>): string | undefined => {
  const strange = Object.entries(given).find(([name, value]) => value !== undefined && !names.includes(name))
  return strange === undefined ? undefined : `has no ${unknownName(strange[0], names)}`
}

const flawOf = (definition: AnyDefinition): string | undefined => {
  const { cache, description, idempotent, name, timeoutMs } = definition
  if (typeof name !== "string" || !TOOL_NAME.test(name)) return `its name must ${TOOL_NAME_FORM}`
  if (typeof description !== "string" || description.trim() === "") return "it needs a description to be chosen by"
  const strange = strangeIn(definition, known)
  if (strange !== undefined) return `it ${strange}`
  const flaw = flawOfRun(definition) ?? flawOfKind(definition)
  if (flaw !== undefined) return flaw
  if (timeoutMs !== undefined && !isTimeout(timeoutMs)) {
    return `its timeoutMs must be a whole number from 1 to ${MAX_TOOL_TIMEOUT_MILLIS}`
  }
  if (idempotent !== undefined && typeof idempotent !== "boolean") return "its idempotent must be true or false"
  return cache === undefined ? undefined : flawOfCache(cache, definition)
}

const isSwitch = (value: unknown): boolean => value === undefined || typeof value === "boolean"

const flawOfKind = ({ background, final, needsApproval }: AnyDefinition): string | undefined => {
  if (!isSwitch(needsApproval) && typeof needsApproval !== "function") {
    return "its needsApproval must be true, false or a function of the arguments"
  }
  if (!isSwitch(final)) return "its final must be true or false"
  if (!isSwitch(background)) return "its background must be true or false"
  const said = Object.entries({ needsApproval, final, background }).flatMap(([word, value]) =>
    value === undefined || value === false ? [] : [word]
  )
  return said.length < 2 ? undefined : `it can not be ${said.join(" and ")} at once: one of them for each tool`
}

const isModule = (run: unknown): run is URL => run instanceof URL && run.protocol === "file:"

const flawOfRun = ({ isolate = false, run, usesRecords }: AnyDefinition): string | undefined => {
  if (isolate === false) {
    if (run instanceof URL) return "its run is a module, which only a tool with isolate: true has"
    return typeof run === "function" ? undefined : "its run must be a function"
  }
  if (!isModule(run)) {
    return (
      "it runs in a process of its own, where no function of this one can be sent; put the function into a module, as its " +
      'default export, and say run: new URL("./that-module.ts", import.meta.url)'
    )
  }
  if (usesRecords === true) return "it can not use the records, which are in this process, and run in another one"
  return flawOfIsolate(isolate)
}

const flawOfIsolate = (isolate: unknown): string | undefined => {
  if (isolate === true) return undefined
  if (typeof isolate !== "object" || isolate === null) return "its isolate must be true, or { memoryMb }"
  const strange = strangeIn(isolate, ["memoryMb"])
  if (strange !== undefined) return `its isolate ${strange}`
  const { memoryMb = MIN_MEMORY_MB }: { readonly memoryMb?: unknown } = isolate
  return typeof memoryMb === "number" && Number.isInteger(memoryMb) && memoryMb >= MIN_MEMORY_MB
    ? undefined
    : `its memoryMb must be a whole number of at least ${MIN_MEMORY_MB}`
}

const flawOfCache = (cache: CachePolicy, definition: AnyDefinition): string | undefined => {
  const strange = strangeIn(typeof cache === "object" ? (cache ?? {}) : {}, ["scope", "ttlMs"])
  if (strange !== undefined) return `its cache ${strange}`
  const { scope, ttlMs }: { readonly scope?: unknown; readonly ttlMs?: unknown } = cache ?? {}
  if (scope !== "tick" && scope !== "session" && scope !== "ttl") {
    return "its cache must have the scope tick, session or ttl"
  }
  if (scope !== "ttl" && ttlMs !== undefined) return "its cache has a ttlMs, which only the scope ttl has"
  if (scope === "ttl" && !(typeof ttlMs === "number" && Number.isSafeInteger(ttlMs) && ttlMs >= 1)) {
    return "its cache needs a ttlMs that is a whole number of at least 1"
  }
  if (categoryOf(definition) === "safe_chain") return undefined
  return "a tool with needsApproval, final or background can not be cached: a call that does not run has no effect"
}

const isTimeout = (millis: number): boolean =>
  Number.isInteger(millis) && millis >= 1 && millis <= MAX_TOOL_TIMEOUT_MILLIS

// Toolkit: the tools of one assistant, by name.
// I1  A name stands for one tool; a second one under it, or another one under a built-in name, is refused.
// I2  Narrowing never adds: what a narrowed toolkit offers and finds, the wider one offers and finds too.
// I3  Offers keep the order of definition and are the same objects each time, so that prompts can be cached.

// Built-in: the tools that Reverie itself brings, and the names kept for them.
// I1  No other tool can take a built-in name.

/** Does nothing and ends nothing: for a model that must call something and wants to change nothing. */
export const noop: Tool = defineTool({
  name: "noop",
  description: "Does nothing. Use it when a tool must be called and nothing should change.",
  idempotent: true,
  run: () => "ok"
})

const builtIns: ReadonlyMap<string, Tool> = new Map([[noop.name, noop]])

/** Every condition given must hold; an empty filter lets everything through. */
export interface ToolFilter {
  readonly categories?: ReadonlyArray<ToolCategory>
  /** Names; those that no tool has are of no effect. */
  readonly allow?: ReadonlyArray<string>
}

export interface Toolkit {
  /** In the order of definition. */
  readonly names: ReadonlyArray<string>
  readonly get: (name: string) => Tool | undefined
  readonly offers: (filter?: ToolFilter) => ReadonlyArray<ToolOffer>
  /** The toolkit that is left: what the filter shuts out can neither be offered nor found. */
  readonly only: (filter: ToolFilter) => Toolkit
}

/** Throws ToolDefinitionInvalid when two tools share a name, or one takes a built-in name. */
export const toolkitOf = (tools: Iterable<Tool>): Toolkit => {
  const byName = new Map<string, Kept>()
  for (const tool of tools) {
    const { description, name, parameters } = tool
    const builtIn = builtIns.get(name)
    if (builtIn !== undefined && builtIn !== tool) refuse(name, "this name belongs to a built-in tool")
    if (byName.has(name)) refuse(name, "two tools have this name")
    byName.set(name, { tool, offer: Object.freeze({ name, description, parameters }) })
  }
  return kitOf(byName)
}

interface Kept {
  readonly tool: Tool
  readonly offer: ToolOffer
}

const refuse = (tool: string, why: string): never => {
  throw new ToolDefinitionInvalid({ tool, message: `tool ${JSON.stringify(tool)}: ${why}` })
}

const kitOf = (byName: ReadonlyMap<string, Kept>): Toolkit => {
  const offers = Object.freeze([...byName.values()].map(({ offer }) => offer))
  // Keyed by the filter object itself: a filter is written once and used at every iteration.
  const narrowed = new WeakMap<ToolFilter, Toolkit>()
  const only = (filter: ToolFilter): Toolkit => {
    const known = narrowed.get(filter)
    if (known !== undefined) return known
    const kit = kitOf(new Map([...byName].filter(([, kept]) => admits(filter, kept.tool))))
    narrowed.set(filter, kit)
    return kit
  }
  return {
    names: Object.freeze([...byName.keys()]),
    get: (name) => byName.get(name)?.tool,
    offers: (filter) => (filter === undefined ? offers : only(filter).offers()),
    only
  }
}

const admits = ({ allow, categories }: ToolFilter, tool: Tool): boolean =>
  (categories === undefined || categories.includes(tool.category)) && (allow === undefined || allow.includes(tool.name))
