// Calls: which tools a message asks for, and with what arguments.
// Owns the written form of a call and the choice by words; words, sentences and lines of a text, and the phrases of one who
// has nothing to say. Leaves checking arguments to the tool: a wrong guess is its
// to refuse.
// D1  A line `/tool {json}` or `/tool key=value key="two words"` is that very call; several lines are several calls.
//     A line `then` between them begins the next step: its calls are made when the results before it have come.
// D2  Any other message is at most one call: of the offered tool that it shares the most words with, the first of equals.
// D3  A quoted text and a number fill one parameter each, in order. A parameter that is not required is filled only
//     when the message speaks of it, and with a number only when it can be that one.
// D4  A tool that needs several free texts is chosen by words only when the message quotes as many: to give all of them
//     the whole message would be no more than noise.
// D5  A line that begins with a dash asks for one call by words (D2 to D4), also of a tool that speaks; several such lines
//     are several calls, and `then` between them begins the next step.
// D6  A number within a quote belongs to the quote.

import type { ToolOffer } from "@reverie/model"
import { defined, isJsonObject, type Json, parseJson, type ToolCall } from "@reverie/protocol"
import * as Result from "effect/Result"

// Words: what a text is about, as far as rules can tell.

// Words of grammar, which say nothing of what a text is about.
const dull = new Set(
  (
    "a an and any are as at be been but by can could did do does for from had has have he her hi him his how i if in is " +
    "it its just let me my no not of on or our out please she so some that the their them then there they this to up " +
    "us was we were what when where which who whom whose why will with would yes you your"
  ).split(" ")
)
const endings = /(?:ies|ing|ed|es|s|y|e)$/

/** A word without its commonest English ending: enough to find `berths` in `berth`, nothing more. */
export const stemOf = (word: string): string => {
  const lower = word.toLowerCase()
  const stem = lower.replace(endings, (ending) => (ending === "ies" || ending === "y" ? "i" : ""))
  return stem.length < 3 ? lower : stem
}

/** A name in any notation as words: `highWater` and `high_water` are both two. */
export const apart = (name: string): string => name.replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2").replaceAll("_", " ")

/** The stems of a text, of a name in any notation too, without words of grammar. */
export const stemsOf = (text: string): ReadonlySet<string> => {
  const words = apart(text).match(/[\p{L}\p{M}]+|\p{N}+/gu) ?? []
  return new Set(words.filter((word) => !dull.has(word.toLowerCase())).map(stemOf))
}

/** A title before a name ends no sentence. */
const end = /(?<=[.!?。！？])(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|St)\.)\s+|\n+/u

export const sentencesOf = (text: string): ReadonlyArray<string> =>
  text.split(end).filter((sentence) => sentence.trim() !== "")

// Chatter: what the offline model says when it has nothing to say.

export const SELF =
  "I am the offline model of Reverie: a small set of rules, not a language model. " +
  "I can call the tools I am offered and quote what stands in my context."

export const AT_A_LOSS =
  "I do not know: nothing in my context answers that, and no tool I am offered fits. I am not a language model."

/** Before the names of the tools that it is offered. */
export const CAN = "I am the offline model of Reverie, and can call these tools for you: "

export const NOTED = "Noted."
export const DONE = "That is done."
export const NOTHING_LEFT = "Nothing is left to save."

const phrases: ReadonlySet<string> = new Set(
  // A sentence of one of them is one too.
  [SELF, AT_A_LOSS, NOTED, DONE, NOTHING_LEFT].flatMap((text) => [text, ...text.split(/(?<=[.!?])\s+/)])
)
/** An answer made of quotes repeats what stands elsewhere. */
const quotes = /^(?:.{1,128} (?:said|reported)|My instructions say|I remember): "/

export const isChatter = (text: string): boolean =>
  phrases.has(text.trim()) || text.startsWith(CAN) || quotes.test(text)

// Lines: what an ask gives to read.
// L1  Any text has lines; what is no line of the form `[id] text` has no id, and nothing is thrown.

export interface Line {
  readonly id: string
  /** It stands below another one, as a neighbour of it. */
  readonly isNested: boolean
  readonly text: string
}

/** The lines of the form `[id] text`. */
export const linesOf = (data: string): ReadonlyArray<Line> =>
  data.split("\n").flatMap((line) => {
    const [, indent = "", id = "", text = ""] = /^(\s*)\[([^\]\s]{1,200})\]\s+(.*)$/.exec(line) ?? []
    return id === "" || text.trim() === "" ? [] : [{ id, isNested: indent !== "", text: text.trim() }]
  })

interface Group {
  readonly line: Line
  readonly neighbours: ReadonlyArray<Line>
}

/** Each line that is not indented, with those below it. */
export const groupsOf = (data: string): ReadonlyArray<Group> => {
  const groups: Array<{ line: Line; neighbours: Array<Line> }> = []
  for (const line of linesOf(data)) {
    if (line.isNested) groups.at(-1)?.neighbours.push(line)
    else groups.push({ line, neighbours: [] })
  }
  return groups
}

export interface SaidLine {
  /** In milliseconds since the epoch; undefined when the line has no date. */
  readonly at?: number
  /** Empty when the line names no one. */
  readonly speaker: string
  readonly text: string
}

const datePattern = /^(undated|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?Z?)\s+/
const speakerPattern = /^([^\s:][^:\n]{0,127}):\s+/

/** `2023-05-08T13:56Z speaker: text`, of which any part but the text may be missing, the date also as `undated`. */
export const saidIn = (line: string): SaidLine => {
  const date = datePattern.exec(line)
  const at = date?.[1] === undefined ? Number.NaN : Date.parse(date[1])
  const rest = Number.isNaN(at) && date?.[1] !== "undated" ? line : line.slice(date?.[0].length)
  const speaker = speakerPattern.exec(rest)
  return {
    ...defined({ at: Number.isNaN(at) ? undefined : at }),
    speaker: speaker?.[1] ?? "",
    text: rest.slice(speaker?.[0].length ?? 0)
  }
}

/** The text in one line of at most 300 characters, or a little more where one ends in halves. */
export const inShort = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length <= 300 ? line : `${line.slice(0, 300).toWellFormed()}…`
}

export type Request = Omit<ToolCall, "id">
type JsonObject = { readonly [key: string]: Json }

/** Tools that speak: they are called with an answer, never to find one. */
export const speaks = (name: string): boolean => name === "say" || name === "reply"

const line = /^(?:\[timer [^\]]*\] )?\/([A-Za-z][\w.-]*)(?:\s+(.*))?$/
const pairs = /([\w.-]+)=("(?:[^"\\]|\\.)*"|[^\s"]\S*)/g

/** The calls that are written out in a message, step by step; none is in it twice. */
export const writtenSteps = (text: string, offers: ReadonlyArray<ToolOffer>): ReadonlyArray<ReadonlyArray<Request>> => {
  const made = new Set<string>()
  const steps = text.split(/^[^\S\n]*then[^\S\n]*$/im).map((part) =>
    part.split("\n").flatMap((each) =>
      [...writtenCall(each.trim(), offers), ...listedCall(each.trim(), offers)].filter((request) => {
        const key = JSON.stringify(request)
        return made.has(key) ? false : made.add(key)
      })
    )
  )
  return steps.filter((step) => step.length > 0)
}

/** The call a line is, if it is one. A name alone counts when such a tool is offered. */
const writtenCall = (text: string, offers: ReadonlyArray<ToolOffer>): ReadonlyArray<Request> => {
  const [, tool, rest = ""] = line.exec(text) ?? []
  if (tool === undefined) return []
  return requestOf(
    tool,
    rest.trim(),
    offers.find(({ name }) => name === tool)
  )
}

/** The call that a line of a list asks for by words. */
const listedCall = (text: string, offers: ReadonlyArray<ToolOffer>): ReadonlyArray<Request> => {
  const [, wanted] = /^[-*\u2022]\s+(\S.*)$/.exec(text) ?? []
  const fitting = wanted === undefined ? undefined : fittingCall(wanted, offers, true)
  return fitting === undefined ? [] : [fitting]
}

const requestOf = (tool: string, rest: string, offer: ToolOffer | undefined): ReadonlyArray<Request> => {
  if (rest === "" && offer === undefined) return []
  if (rest.startsWith("{")) {
    const parsed = parseJson(rest)
    return Result.isSuccess(parsed)
      ? [{ tool, arguments: parsed.success }]
      : [{ tool, arguments: {}, malformed: parsed.failure }]
  }
  if (rest.replaceAll(pairs, "").trim() !== "") return []
  const schemas = new Map(offer === undefined ? [] : propertiesOf(offer))
  const entries = Array.from(rest.matchAll(pairs), ([, key = "", value = ""]) => {
    const parsed = Result.getOrElse(parseJson(value), () => value)
    return [key, typeOf(schemas.get(key) ?? {}) === "string" && typeof parsed !== "string" ? value : parsed] as const
  })
  return [{ tool, arguments: objectOf(entries) }]
}

/** The one call that a message fits, if it fits any. */
export const fittingCall = (
  text: string,
  offers: ReadonlyArray<ToolOffer>,
  maySpeak: boolean = false
): Request | undefined => {
  const [best] = offers
    .filter((offer) => (maySpeak || !speaks(offer.name)) && offer.name !== "noop" && canFill(offer, text))
    .map((offer) => ({ offer, score: scoreOf(stemsOf(text), offer) }))
    .toSorted((one, other) => other.score - one.score)
  // One word of a tool's name or choices is enough; words of its description must come together.
  if (best === undefined || best.score < 3) return undefined
  return { tool: best.offer.name, arguments: argumentsFor(best.offer, text) }
}

const canFill = (offer: ToolOffer, text: string): boolean => {
  const { required } = offer.parameters
  const needed = Array.isArray(required) ? required : []
  const isFreeText = (schema: JsonObject) => typeOf(schema) === "string" && choicesOf(schema).length === 0
  const texts = propertiesOf(offer).filter(([name, schema]) => needed.includes(name) && isFreeText(schema)).length
  return texts <= Math.max(1, text.match(/"[^"]+"/g)?.length ?? 0)
}

const scoreOf = (asked: ReadonlySet<string>, { description, name, ...offer }: ToolOffer): number => {
  const properties = propertiesOf(offer)
  const choices = properties.flatMap(([, schema]) => choicesOf(schema))
  const weighted = [
    { weight: 3, stems: stemsOf([name, ...choices].join(" ")) },
    { weight: 2, stems: stemsOf(properties.map(([parameter]) => parameter).join(" ")) },
    { weight: 1, stems: stemsOf(description) }
  ]
  return [...asked].reduce((sum, stem) => sum + (weighted.find(({ stems }) => stems.has(stem))?.weight ?? 0), 0)
}

export const propertiesOf = ({
  parameters
}: Pick<ToolOffer, "parameters">): ReadonlyArray<readonly [string, JsonObject]> => {
  const { properties } = parameters
  if (!isJsonObject(properties)) return []
  return Object.entries(properties).map(([name, schema]) => [name, isJsonObject(schema) ? schema : {}])
}

// Parsed like any other arguments, so that no hostile key gets through.
const objectOf = (entries: ReadonlyArray<readonly [string, Json]>): Json =>
  Result.getOrElse(parseJson(JSON.stringify(Object.fromEntries(entries))), () => ({}))

const choicesOf = (schema: JsonObject): ReadonlyArray<string> =>
  Array.isArray(schema["enum"]) ? schema["enum"].filter((choice) => typeof choice === "string") : []

/** The type a value is to have; of several the first that is not null. */
const typeOf = ({ anyOf, type }: JsonObject): Json | undefined => {
  if (Array.isArray(anyOf))
    return anyOf
      .filter(isJsonObject)
      .map(typeOf)
      .find((each) => each !== "null")
  return Array.isArray(type) ? type.find((each) => each !== "null") : type
}

const quotation = /["“]([^"”]+)["”]/g

/** Not what stands in a word: the code kestrel-7781 has no number below zero. */
const numeral = /(?<![\w.-])-?\d+(?:\.\d+)?/g

const canBe = ({ maximum = Infinity, minimum = -Infinity, ...schema }: JsonObject, number: number): boolean =>
  number >= Number(minimum) && number <= Number(maximum) && (typeOf(schema) !== "integer" || Number.isInteger(number))

/** Takes the first that the parameter can be; else any for one that must be there: the tool says what is wrong with it. */
const taken = (numbers: Array<number>, schema: JsonObject, isRequired: boolean): number | undefined => {
  const at = numbers.findIndex((each) => canBe(schema, each))
  return at < 0 && !isRequired ? undefined : numbers.splice(Math.max(0, at), 1)[0]
}

const argumentsFor = (offer: ToolOffer, text: string): Json => {
  const properties = propertiesOf(offer)
  const { required } = offer.parameters
  const names = new Set(properties.flatMap(([name]) => [...stemsOf(name)]))
  const quotes = Array.from(text.matchAll(quotation), ([, quoted]) => quoted)
  const numbers = Array.from(text.replaceAll(quotation, " ").matchAll(numeral), ([digits]) => Number(digits))
  const after = (stems: ReadonlySet<string>, end: RegExp) => wordsAfter(stems, text, names, end)
  const phrase = (name: string, end: RegExp): string =>
    quotes.shift() ?? after(stemsOf(name), end) ?? after(stemsOf(offer.name), end) ?? text
  const valueOf = (name: string, schema: JsonObject): Json | undefined => {
    const choices = choicesOf(schema)
    if (choices.length > 0) return choices.find((choice) => isIn(choice, text))
    const type = typeOf(schema)
    const isRequired = Array.isArray(required) && required.includes(name)
    if (type === "number" || type === "integer") return taken(numbers, schema, isRequired)
    const stems = stemsOf(name)
    const isNamed = stems.size === 0 ? isIn(name, text) : !stems.isDisjointFrom(stemsOf(text))
    if (!isNamed && !isRequired) return undefined
    if (type === "boolean") return isNamed && !/\b(?:no|not|never|without)\b/i.test(text)
    if (type === "object") return undefined
    if (type !== "array") return phrase(name, /[.,;!?\n]/)
    return phrase(name, /[.;!?\n]/)
      .split(/,|\band\b/)
      .map((item) => item.trim())
      .filter((item) => item !== "")
  }
  const filled = properties.map(([name, schema]) => [name, valueOf(name, schema) ?? schema["default"]] as const)
  return objectOf(filled.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}

/** All the words of a value, in any form, stand in the text; one of grammar, as `on` or `off`, as it is. */
const isIn = (value: string, text: string): boolean => {
  const stems = stemsOf(value)
  if (stems.size > 0) return stems.isSubsetOf(stemsOf(text))
  return (text.toLowerCase().match(word) ?? []).some((each) => each === value.toLowerCase())
}

const word = /[\p{L}\p{M}\p{N}]+/gu

/** What follows the last word that has one of the stems, up to a sign that ends it or the name of another parameter. */
const wordsAfter = (
  stems: ReadonlySet<string>,
  text: string,
  names: ReadonlySet<string>,
  end: RegExp
): string | undefined => {
  const words = Array.from(text.matchAll(word), ({ 0: each, index }) => ({
    stem: stemOf(each),
    from: index,
    to: index + each.length
  }))
  const found = words.findLast(({ stem }) => stems.has(stem))
  if (found === undefined) return undefined
  const next = words.find(({ from, stem }) => from > found.from && names.has(stem) && !stems.has(stem))
  const phrase = text.slice(found.to, next?.from).split(end)[0] ?? ""
  const value = phrase.replace(/^(?:[\s=:-]|(?:is|are|to|for|of|the|a|an|about|with|as)\b)+/i, "").trim()
  return value === "" ? undefined : value
}
