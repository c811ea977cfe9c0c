// Shape: what may stand in an object that a user writes, and the one sentence about what may not.
// Owns the words of the refusals. Leaves which error is thrown to the code that reads the object.
// P1  A name that is not in the shape is refused with the names that are, the nearest one last: a typing error is never a
//     setting left out.
// P2  A value outside its range is refused with the range and the value, never brought into it.
// P3  What is undefined was left out.

import { isKnownZone, MAX_ITERATIONS, settingRanges, type Settings } from "@reverie/assistant"
import { flawOfBound } from "@reverie/ledger"
import { memoryKinds, recallScopes, reviews, searchModes } from "@reverie/memory"
import { hookNames, unknownName } from "@reverie/protocol"
import { MAX_HOOK_MILLIS } from "@reverie/tools"

/** What a value must be, in words that follow on its name; undefined when it is that. */
export type Check = (value: unknown) => string | undefined

/** Names with what each must be. */
export type Shape = Readonly<Record<string, Check>>

const MAX_SHOWN_CHARS = 60

/** A value as a sentence shows it. */
const shown = (value: unknown): string => {
  if (typeof value === "function") return "a function"
  const text = typeof value === "bigint" ? `${value}n` : (JSON.stringify(value) ?? String(value))
  // JSON has no word for the numbers that are none.
  const said = typeof value === "number" ? String(value) : text
  return said.length > MAX_SHOWN_CHARS ? `${said.slice(0, MAX_SHOWN_CHARS)}…` : said
}

const must = (words: string, isFit: (value: unknown) => boolean): Check => {
  return (value) => (isFit(value) ? undefined : `must be ${words}, and is ${shown(value)}`)
}

const counted = (value: number): string => value.toLocaleString("en-US")

const between = (least: number, most: number): string =>
  most >= Number.MAX_SAFE_INTEGER ? `of at least ${counted(least)}` : `from ${counted(least)} to ${counted(most)}`

/** A whole number of the range. */
export const whole = (least: number, most: number = Number.MAX_SAFE_INTEGER): Check =>
  must(`a whole number ${between(least, most)}`, (value) => {
    return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
  })

/** Any number of the range. */
export const amount = (least: number, most: number): Check =>
  must(`a number ${between(least, most)}`, (value) => typeof value === "number" && value >= least && value <= most)

export const flag: Check = must("true or false", (value) => typeof value === "boolean")
export const text: Check = must("a text", (value) => typeof value === "string")
export const texts: Check = must("a list of texts", (value) => {
  return Array.isArray(value) && value.every((each) => typeof each === "string")
})
export const list: Check = must("a list", Array.isArray)
export const any: Check = () => undefined
/** A list of objects of one shape. */
export const listOfShape =
  (key: string, shapeOf: (item: unknown) => Shape | undefined): Check =>
  (value) => {
    if (!Array.isArray(value)) return list(value)
    return value
      .map((each: unknown) => {
        const shape = shapeOf(each)
        return shape === undefined ? undefined : flawOfShape(key, each, shape)
      })
      .find((flaw) => flaw !== undefined)
  }

const inWords = (words: ReadonlyArray<unknown>): string =>
  words
    .map(String)
    .join(", ")
    .replace(/, ([^,]*)$/, " or $1")

export const oneOf = (...words: ReadonlyArray<unknown>): Check => must(inWords(words), (value) => words.includes(value))

/** Some of these words, at least one. */
const listOf = (...words: ReadonlyArray<string>): Check =>
  must(`a list of ${inWords(words)}`, (value) => {
    return Array.isArray(value) && value.length > 0 && value.every((each) => words.includes(each))
  })

export const orNull =
  (check: Check): Check =>
  (value) =>
    value === null ? undefined : check(value)

/** The words of `flawOfShape` about what `who` takes, as a sentence says them: "its settings ...", "defineFleet has ...". */
export const flawOfOptions = (who: string, options: unknown, shape: Shape): string | undefined =>
  flawOfShape("options", options, shape)
    ?.replace(/^options\./, "its ")
    .replace(/^options have/, `${who} has`)
    .replace(/^options must/, `what ${who} takes must`)

/** What is wrong with an object, in words that follow on "its"; undefined when nothing is. */
export const flawOfShape = (name: string, value: unknown, shape: Shape): string | undefined => {
  if (value === undefined) return undefined
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return `${name} must be an object, and is ${shown(value)}`
  }
  for (const [key, given] of Object.entries(value)) {
    if (given === undefined) continue
    const check = Object.hasOwn(shape, key) ? shape[key] : undefined
    if (check === undefined) {
      const has = name.endsWith("s") ? "have" : "has"
      return `${name} ${has} no ${unknownName(key, Object.keys(shape))}`
    }
    const flaw = check(given)
    // A check of an object within names what is wrong in it by itself.
    if (flaw !== undefined) return flaw.startsWith("must ") ? `${name}.${key} ${flaw}` : `${name}.${flaw}`
  }
  return undefined
}

/** The check of an object that stands in another one. */
export const shaped =
  (key: string, shape: Shape): Check =>
  (value) =>
    flawOfShape(key, value, shape)

// AssistantShape: what may stand in the description of an assistant. The ranges are those of the engine.

const share = amount(0, 1)

const checkOfSetting = (name: keyof Settings) => {
  if (Object.hasOwn(settingRanges, name)) {
    const [least, most] = settingRanges[name as keyof typeof settingRanges]
    return whole(least, most)
  }
  return name === "compactSleepRatio" || name === "compactEmergencyRatio" ? share : flag
}

const verdict = oneOf("trigger", "context", "ignore")

const listeningShape: Shape = {
  enabled: flag,
  names: texts,
  direct: verdict,
  assistants: oneOf("trigger-on-mention", "context", "ignore"),
  permitted: texts,
  channels: (value) =>
    flawOfShape("channels", value, Object.fromEntries(Object.keys(Object(value)).map((name) => [name, verdict]))),
  room: verdict,
  otherwise: verdict
}

const sleepShape: Shape = {
  enabled: flag,
  startHour: whole(0, 23),
  durationHours: amount(1 / 60, 23),
  dreamPauseMs: whole(0, 3_600_000),
  review: oneOf(...reviews),
  timeZone: (value) =>
    typeof value === "string" && isKnownZone(value)
      ? undefined
      : `must be a name of the IANA database, as Europe/Berlin, and is ${JSON.stringify(value)}`
}

const bound: Check = (value) => flawOfBound(value)

export const retentionCheck: Check = shaped("retention", {
  archiveAfter: (value) => (value === false ? undefined : bound(value)),
  deleteAfter: bound
})

const compactionShape: Shape = {
  compactPreserveWindow: whole(1, 10_000),
  compactModel: orNull(text),
  compactPrompt: orNull(text),
  preCompactExtractionEnabled: flag,
  preCompactMaxIterations: whole(1, 10),
  preCompactPrompt: orNull(text),
  strategy: shaped("strategy", {
    type: oneOf("truncate", "recursive-summarization"),
    chunkTokens: whole(200, 10_000_000),
    chunkMessages: whole(1, 1_000_000)
  })
}

const memoryShape: Shape = {
  recall: oneOf("auto", "off"),
  maxHits: whole(1),
  maxTokens: whole(1),
  mode: oneOf(...searchModes),
  kinds: listOf(...memoryKinds),
  minTrust: share,
  perPerson: flag
}

const moment = must("a time in milliseconds since the epoch", Number.isFinite)

/** How memories may be asked for. */
export const recallShape: Shape = {
  mode: oneOf(...searchModes),
  scope: oneOf(...recallScopes),
  limit: whole(1),
  kinds: listOf(...memoryKinds),
  since: moment,
  until: moment,
  entities: texts,
  tags: texts,
  thread: text,
  minTrust: share
}

const limitsShape: Shape = {
  maxTokens: whole(1),
  memoryTokens: whole(0),
  historyTokens: whole(1),
  reservedResponseTokens: whole(1)
}

const promptShape: Shape = {
  memoryTokens: whole(0),
  historyTokens: whole(1),
  maxMessagesCap: whole(1),
  keepRecent: whole(1),
  includeDescriptions: flag,
  includeSchemas: flag,
  activityEntriesLimit: whole(0, 1_000),
  firstMessageUser: flag,
  modelOverrides: (value) => {
    const models = Object.keys(Object(value)).map((name) => [name, shaped(name, limitsShape)])
    return flawOfShape("modelOverrides", value, Object.fromEntries(models))
  }
}

const aFunction = must("a function", (value) => typeof value === "function")

/** The check of hooks, of an assistant or of a fleet. */
export const hooksCheck: Check = shaped("hooks", {
  ...Object.fromEntries(hookNames.map((name) => [name, aFunction])),
  timeoutMs: whole(1, MAX_HOOK_MILLIS)
})

/** What `defineAssistant` takes, with the names of the settings in the engine. What has a file of its own is judged there. */
export const assistantShape = (settings: Readonly<Record<string, keyof Settings>>): Shape => ({
  id: text,
  instructions: text,
  template: text,
  persona: text,
  tags: texts,
  output: any,
  tools: list,
  hooks: hooksCheck,
  maxSteps: whole(1, MAX_ITERATIONS),
  assessWith: oneOf("heuristic", "model"),
  listening: shaped("listening", listeningShape),
  sleep: shaped("sleep", sleepShape),
  retention: retentionCheck,
  messageRate: shaped("messageRate", { perPair: whole(2), windowMs: whole(1) }),
  toolRules: list,
  maxContextTokens: whole(1),
  reservedResponseTokens: whole(1),
  compaction: shaped("compaction", compactionShape),
  memory: shaped("memory", memoryShape),
  prompt: shaped("prompt", promptShape),
  blocks: list,
  recallScopes: list,
  settings: shaped(
    "settings",
    Object.fromEntries(Object.entries(settings).map(([name, inEngine]) => [name, checkOfSetting(inEngine)]))
  ),
  contexts: any,
  model: any,
  models: any,
  subAgents: any,
  budget: any,
  prices: any
})
