// Secrets: the keys and passwords that a fleet was given, kept out of what it writes down.
// Owns taking them out of data. Leaves knowing them to the SDK.
// S1  What a run, a model or a failure says goes to the ledger, to models and to screens without them, whoever put them in.
// S2  Data that holds none is left as it is, the very same value.

import * as Context from "effect/Context"

/** Shorter ones are placeholders such as `none`, and ordinary words. */
const SHORTEST_SECRET = 8

const REDACTED = "[redacted]"

export interface Hiding {
  /** The value without them. It must be plain JSON data. */
  readonly hide: <A>(value: A) => A
}

const HIDING_NOTHING: Hiding = { hide: (value) => value }

/** By default nothing is known to be secret. */
export const Secrets = Context.Reference<Hiding>("@reverie/runtime/Secrets", { defaultValue: () => HIDING_NOTHING })

/** As it stands inside of JSON text. */
const inJson = (secret: string): string => JSON.stringify(secret).slice(1, -1)

/** Hides these, and what is left of each when it is written as JSON. */
export const hiding = (secrets: ReadonlyArray<string>): Hiding => {
  const hidden = [...new Set(secrets.filter(({ length }) => length >= SHORTEST_SECRET).map(inJson))]
    // One may be a part of another.
    .toSorted((a, b) => b.length - a.length)
  if (hidden.length === 0) return HIDING_NOTHING
  return {
    hide: <A>(value: A): A => {
      const text = JSON.stringify(value) as string | undefined
      if (text === undefined || !hidden.some((secret) => text.includes(secret))) return value
      return JSON.parse(hidden.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text)) as A
    }
  }
}
