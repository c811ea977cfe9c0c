// Form: an answer in the form that it must have.
// Owns filling a JSON Schema with what stands in two texts: the answer in words, and then the question. Leaves the answer to
// offline-model.ts.
// M1  The same schema and the same texts give the same value; whatever the schema, there is one.
// M2  A member is what stands behind its name; a number, the first one that no other member has. What nothing is found for is
//     the least that its schema allows.

import { isJsonObject, type Json } from "@reverie/protocol"

type Schema = { readonly [keyword: string]: Json }

interface Texts {
  readonly answer: string
  readonly question: string
  /** Numbers of the answer, then of the question, that no member has yet. */
  readonly numbers: Array<number>
}

const MAX_DEPTH = 16

const numbersIn = (text: string): ReadonlyArray<number> =>
  Array.from(text.matchAll(/(?<![\w.-])-?\d+(?:\.\d+)?/g), ([digits]) => Number(digits))

/** A value for the schema, as far as rules can tell. */
export const filledForm = (schema: Schema, answer: string, question: string): Json => {
  const numbers = [...numbersIn(answer), ...numbersIn(question)]
  return valueOf(schema, "", { answer, question, numbers }, 0)
}

const isSchema = (value: Json | undefined): value is Schema => value !== undefined && isJsonObject(value)

const schemasIn = (value: Json | undefined): ReadonlyArray<Schema> =>
  Array.isArray(value) ? value.filter(isSchema) : []

const typeOf = ({ type }: Schema): Json | undefined =>
  Array.isArray(type) ? (type.find((each) => each !== "null") ?? "null") : type

/** What stands behind the name in a text, up to a sign that ends it; undefined where the name does not stand there. */
const behind = (name: string, text: string): string | undefined => {
  const words = name.match(/\p{Lu}?[\p{Ll}\p{M}]+|\p{Lu}+|\p{N}+/gu) ?? []
  if (words.length === 0) return undefined
  const found = new RegExp(`(?<![\\p{L}\\p{N}_])${words.join("[\\s_-]*")}[\\s:=]+([^.,;!?\\n]+)`, "iu")
    .exec(text)?.[1]
    ?.trim()
  return found === "" ? undefined : found
}

const foundFor = (name: string, { answer, question }: Texts): string | undefined =>
  behind(name, answer) ?? behind(name, question)

const holds = (text: string, value: Json): boolean =>
  text.toLowerCase().includes((typeof value === "string" ? value : JSON.stringify(value)).toLowerCase())

const chosen = (choices: ReadonlyArray<Json>, { answer, question }: Texts): Json =>
  choices.find((choice) => holds(answer, choice)) ??
  choices.find((choice) => holds(question, choice)) ??
  choices[0] ??
  null

const limit = (value: Json | undefined): number | undefined => (typeof value === "number" ? value : undefined)

const numberFor = (schema: Schema, name: string, texts: Texts): number => {
  const { numbers } = texts
  const [named] = numbersIn(foundFor(name, texts) ?? "")
  const at = named === undefined ? 0 : numbers.indexOf(named)
  const [taken] = at < 0 ? [] : numbers.splice(at, 1)
  const value = named ?? taken ?? limit(schema["default"]) ?? limit(schema["minimum"]) ?? 0
  const { maximum = Infinity, minimum = -Infinity } = schema
  const within = Math.min(Number(maximum), Math.max(Number(minimum), value))
  return typeOf(schema) === "integer" ? Math.round(within) : within
}

const textFor = (schema: Schema, name: string, texts: Texts): string => {
  const found = foundFor(name, texts) ?? texts.answer
  const { maxLength = found.length, minLength = 0 } = schema
  return found.slice(0, Number(maxLength)).toWellFormed().padEnd(Number(minLength), ".")
}

const isSaid = (name: string, texts: Texts): boolean => {
  const said = foundFor(name, texts)
  return said === undefined ? /^(?:yes|sure|of course)\b/i.test(texts.answer) : !/^(?:no|not|false)\b/i.test(said)
}

const objectOf = (schema: Schema, texts: Texts, depth: number): Json => {
  const properties = isSchema(schema["properties"]) ? Object.entries(schema["properties"]) : []
  const required = Array.isArray(schema["required"]) ? schema["required"] : []
  const members = properties.flatMap(([name, each]): ReadonlyArray<readonly [string, Json]> => {
    const isWanted = required.includes(name) || foundFor(name, texts) !== undefined
    return isWanted && isSchema(each) ? [[name, valueOf(each, name, texts, depth + 1)]] : []
  })
  return Object.fromEntries(members)
}

const listOf = ({ items, maxItems, minItems }: Schema, name: string, texts: Texts, depth: number): Json => {
  const count = Math.min(limit(maxItems) ?? 1, Math.max(1, limit(minItems) ?? 1))
  if (!isSchema(items)) return []
  return Array.from({ length: count }, () => valueOf(items, name, texts, depth + 1))
}

const valueOf = (schema: Schema, name: string, texts: Texts, depth: number): Json => {
  if (depth > MAX_DEPTH) return null
  if (schema["const"] !== undefined) return schema["const"]
  if (Array.isArray(schema["enum"])) return chosen(schema["enum"], texts)
  const options = [...schemasIn(schema["anyOf"]), ...schemasIn(schema["oneOf"])]
  const option = options.find((each) => typeOf(each) !== "null") ?? options[0]
  const parts = schemasIn(schema["allOf"])
  if (parts.length > 0) return Object.assign({}, ...parts.map((each) => valueOf(each, name, texts, depth + 1)))
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, texts, depth)
    case "array":
      return listOf(schema, name, texts, depth)
    case "number":
    case "integer":
      return numberFor(schema, name, texts)
    case "boolean":
      return isSaid(name, texts)
    case "null":
      return null
    case "string":
      return textFor(schema, name, texts)
    default:
      if (option !== undefined) return valueOf(option, name, texts, depth + 1)
      return isSchema(schema["properties"]) ? objectOf(schema, texts, depth) : textFor(schema, name, texts)
  }
}
