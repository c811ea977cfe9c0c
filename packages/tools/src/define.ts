// Define: how a user writes a tool.
// Owns the checks of a definition and the way from a plain function to a `Tool`. Leaves running it to `execute.ts`.
// I1  A wrong definition throws at once, with one sentence that names the tool.
// I2  The function of the user may be plain or async, may throw, and sees no Effect.
// I3  A tool that runs in a process of its own names a module: a function cannot be sent there.

import { defined, toolCategories, type ToolCategory } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import type { ToolOffer } from "@reverie/model"
import { ToolDefinitionInvalid } from "./errors.ts"
import { acceptInput, type ArgumentsOf, type ToolInput } from "./schema/input.ts"
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

export interface ToolDefinition<Input extends ToolInput | undefined> extends DefinedTool<Input> {
  readonly isolate?: false
  /** Gives a text or any JSON value, or nothing; directly or as a promise. What it throws, the model learns. */
  readonly run: (args: ArgumentsOf<Input>, run: ToolRun) => unknown
}

/** Each call runs in a process of its own: it may block, exit, crash or use up its memory, and hurts nothing else. */
export interface IsolatedToolDefinition<Input extends ToolInput | undefined> extends DefinedTool<Input> {
  readonly isolate: true | IsolateOptions
  /** `new URL("./tool.ts", import.meta.url)`: a module whose default export is the function, `(args, run: IsolatedRun)`. */
  readonly run: URL
}

interface DefinedTool<Input extends ToolInput | undefined> {
  /** Small letters, digits and `_`, beginning with a letter, at most 64 characters. */
  readonly name: string
  /** Read by the model: what the tool does and when to use it. */
  readonly description: string
  /** What the tool takes; without it, nothing. */
  readonly input?: Input
  /** `safe_chain` when not said. */
  readonly category?: ToolCategory
  /** 30 seconds when not said. */
  readonly timeoutMillis?: number
  /** True when a second run with the same `key` does no more than the first. False when not said. */
  readonly idempotent?: boolean
  /** True when it reads or changes `run.records`: such runs of one assistant never overlap. False when not said. */
  readonly usesRecords?: boolean
  /** Whether a person has to agree to this very call first, given the blocks there are. Never when not said. */
  readonly needsConsent?: Tool["needsConsent"]
  /** How long a result may stand for an equal call. Not at all when not said; only for a tool of the category `safe_chain`. */
  readonly cache?: CachePolicy
}

/** Of any input, as the checks look at it. */
type AnyDefinition = DefinedTool<ToolInput | undefined> & { readonly isolate?: unknown; readonly run: unknown }

const DEFAULT_MEMORY_MB = 256
const MIN_MEMORY_MB = 16

/**
 * @example
 * const dice = defineTool({
 *   name: "roll_dice",
 *   description: "Rolls a die with the given number of sides.",
 *   input: Schema.Struct({ sides: Schema.Int }),
 *   run: ({ sides }, { now }) => `You rolled ${now % sides + 1}`
 * })
 */
export function defineTool<Input extends ToolInput | undefined = undefined>(definition: ToolDefinition<Input>): Tool
export function defineTool<Input extends ToolInput | undefined = undefined>(
  definition: IsolatedToolDefinition<Input>
): Tool
export function defineTool(definition: AnyDefinition): Tool {
  const { cache, category = "safe_chain", description, idempotent = false, name, usesRecords = false } = definition
  const { needsConsent } = definition
  const { timeoutMillis = DEFAULT_TOOL_TIMEOUT_MILLIS } = definition
  const input = flawOf(definition) ?? acceptInput(definition.input)
  if (typeof input === "string") {
    const given: unknown = name
    const tool = clipped(String(given), 64)
    throw new ToolDefinitionInvalid({ tool, message: `tool ${JSON.stringify(tool)}: ${input}` })
  }
  const isolated = isolatedIn(definition)
  return Object.freeze({
    name,
    description,
    category,
    idempotent,
    usesRecords,
    timeoutMillis,
    ...defined({ needsConsent, cache: cache === undefined ? undefined : Object.freeze({ ...cache }), isolated }),
    parameters: input.parameters,
    validate: input.validate,
    run: isolated === undefined ? runHere(definition.run) : runElsewhere(name, timeoutMillis, isolated)
  })
}

/** `validate` gives what the schema decodes to, which is what `ArgumentsOf` says. */
const runHere = (run: unknown): Tool["run"] => {
  const call = run as (args: unknown, run: ToolRun) => unknown
  return (args, toolRun) =>
    Effect.flatMap(CurrentWatch, ({ inside }) => started(() => inside(() => call(args, toolRun))))
}

const runElsewhere =
  (tool: string, timeoutMillis: number, isolated: IsolatedModule): Tool["run"] =>
  (args, run) =>
    Effect.flatMap(RunPlace, (place) => place.isolated({ ...isolated, tool, timeoutMillis, args, run }))

/** Only of a definition without a flaw. */
const isolatedIn = ({ isolate = false, run }: AnyDefinition): IsolatedModule | undefined => {
  if (isolate === false) return undefined
  const { memoryMb = DEFAULT_MEMORY_MB } = isolate === true ? {} : (isolate as IsolateOptions)
  return Object.freeze({ module: String(run), memoryMb })
}

const started = (begin: () => unknown): Effect.Effect<unknown, unknown> => {
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

const flawOf = (definition: AnyDefinition): string | undefined => {
  const { cache, category, description, idempotent, name, timeoutMillis } = definition
  if (typeof name !== "string" || !/^[a-z][a-z0-9_]{0,63}$/.test(name)) {
    return "its name must begin with a small letter and have only small letters, digits and _, at most 64"
  }
  if (typeof description !== "string" || description.trim() === "") return "it needs a description to be chosen by"
  const running = flawOfRun(definition)
  if (running !== undefined) return running
  if (category !== undefined && !toolCategories.includes(category)) {
    return `its category must be one of ${toolCategories.join(", ")}`
  }
  if (timeoutMillis !== undefined && !isTimeout(timeoutMillis)) {
    return `its timeoutMillis must be a whole number from 1 to ${MAX_TOOL_TIMEOUT_MILLIS}`
  }
  if (idempotent !== undefined && typeof idempotent !== "boolean") return "its idempotent must be true or false"
  return cache === undefined ? undefined : flawOfCache(cache, category)
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
  const { memoryMb = MIN_MEMORY_MB }: { readonly memoryMb?: unknown } = isolate
  return typeof memoryMb === "number" && Number.isInteger(memoryMb) && memoryMb >= MIN_MEMORY_MB
    ? undefined
    : `its memoryMb must be a whole number of at least ${MIN_MEMORY_MB}`
}

const flawOfCache = (cache: CachePolicy, category: ToolCategory = "safe_chain"): string | undefined => {
  const { scope, ttlMillis }: { readonly scope?: unknown; readonly ttlMillis?: unknown } = cache ?? {}
  if (scope !== "tick" && scope !== "session" && scope !== "ttl") {
    return "its cache must have the scope tick, session or ttl"
  }
  if (scope !== "ttl" && ttlMillis !== undefined) return "its cache has a ttlMillis, which only the scope ttl has"
  if (scope === "ttl" && !(typeof ttlMillis === "number" && Number.isSafeInteger(ttlMillis) && ttlMillis >= 1)) {
    return "its cache needs a ttlMillis that is a whole number of at least 1"
  }
  if (category === "safe_chain") return undefined
  return `a tool of the category ${category} can not be cached, because a call that does not run has no effect`
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
