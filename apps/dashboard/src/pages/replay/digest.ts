// Digest: what a fork says of the two ways through a tick, read with care.
// D1  What is not as expected is left out; the page shows the JSON besides.

import { defined } from "@reverie/protocol/defined"
interface Call {
  readonly tool: string
  readonly arguments: string
  readonly result?: string
  readonly answeredBy?: string
}

interface Part {
  readonly key: string
  readonly tokens: number
}

export interface Digest {
  readonly outcome: string
  readonly unfinished?: string
  readonly reply: string
  readonly iterations: number
  readonly models: ReadonlyArray<string>
  readonly modelCalls: number
  readonly failures: ReadonlyArray<string>
  readonly calls: ReadonlyArray<Call>
  readonly tokens: { readonly input: number; readonly output: number }
  readonly costMicros: number
  readonly sends: ReadonlyArray<{ readonly to: string; readonly type: string; readonly text: string }>
  readonly contexts: ReadonlyArray<{
    readonly iteration: number
    readonly tokens: number
    readonly parts: ReadonlyArray<Part>
  }>
}

const empty: Digest = {
  outcome: "",
  reply: "",
  iterations: 0,
  models: [],
  modelCalls: 0,
  failures: [],
  calls: [],
  tokens: { input: 0, output: 0 },
  costMicros: 0,
  sends: [],
  contexts: []
}

/** A value of another kind than the empty digest has in its place is not taken. */
export const digestOf = (value: unknown): Digest => {
  if (typeof value !== "object" || value === null) return empty
  const known = Object.entries(empty).flatMap(([key, none]) => {
    const found: unknown = Reflect.get(value, key)
    const isAlike = typeof found === typeof none && Array.isArray(found) === Array.isArray(none) && found !== null
    return isAlike ? [[key, found] as const] : []
  })
  const unfinished: unknown = Reflect.get(value, "unfinished")
  return {
    ...empty,
    ...Object.fromEntries(known),
    ...defined({ unfinished: typeof unfinished === "string" ? unfinished : undefined })
  }
}

export interface PartPair {
  readonly key: string
  readonly tokens: readonly [number | undefined, number | undefined]
}

/** The parts of two prompts, those of the first in its order, then those that only the second has. */
export const partPairs = (one: ReadonlyArray<Part> = [], other: ReadonlyArray<Part> = []): ReadonlyArray<PartPair> => {
  const tokensIn = (parts: ReadonlyArray<Part>, key: string): number | undefined => {
    const same = parts.filter((part) => part.key === key)
    return same.length === 0 ? undefined : same.reduce((sum, { tokens }) => sum + tokens, 0)
  }
  const keys = new Set([...one, ...other].map(({ key }) => key))
  return [...keys].map((key) => ({ key, tokens: [tokensIn(one, key), tokensIn(other, key)] }))
}
