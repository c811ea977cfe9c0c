// Digest: what a fork says of the two ways through a tick, read with care.
// D1  What is not as expected is left out; the page shows the JSON besides.

import { defined } from "../../api/defined.ts"
import type { Answer } from "../../api/contract.ts"

export type Fork = Answer<"POST /v1/assistants/:id/forks">

export interface Call {
  readonly tool: string
  readonly arguments: string
  readonly result?: string
  readonly answeredBy?: string
}

export interface Part {
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
  readonly unpricedCalls: number
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
  unpricedCalls: 0,
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

export const callsText = ({ calls }: Digest): string =>
  JSON.stringify(calls.map(({ arguments: args, result, tool }) => [tool, args, result]))

/** What a table says of a fork in a line. */
export interface Difference {
  readonly one: Digest
  readonly other: Digest
  readonly isAnswerSame: boolean
  readonly areToolsSame: boolean
  /** The sides that differ, as the server names them. */
  readonly differs: ReadonlyArray<string>
}

export const differenceOf = ({ differs, forked, original }: Fork): Difference => {
  const [one, other] = [digestOf(original), digestOf(forked)]
  return {
    one,
    other,
    isAnswerSame: one.reply === other.reply && one.outcome === other.outcome,
    areToolsSame: callsText(one) === callsText(other),
    // `tokens: 7006 in → 6744 in`: the words stand in the table.
    differs: differs.map((each) => each.replace(/:.*$/s, ""))
  }
}
