// Secrets: the passwords and keys that a fleet is given.
// Owns finding them in options and in the environment (through Config). Leaves keeping them out of texts to the code that writes.

import { secretsOfHeaders } from "@reverie/model/wire"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Option from "effect/Option"
import type { ModelChoice } from "../models/model-choice.ts"
import { ADDRESS_VARIABLES, KEY_VARIABLES } from "../models/model-names.ts"
import type { ProfileOptions } from "./profile.ts"

export interface SecretHolders extends Pick<Partial<ProfileOptions>, "deployment" | "embedder" | "recall"> {
  /** Every model that is chosen anywhere. */
  readonly chosen?: ReadonlyArray<ModelChoice>
}

/** Names of the environment whose whole value is a secret, and those that hold a URL with one in it. */
const KEYS = ["DATABASE_PASSWORD", "QDRANT_API_KEY", "OTEL_EXPORTER_OTLP_HEADERS", ...KEY_VARIABLES]
const URLS = ["DATABASE_URL", "REDIS_URL", "QDRANT_URL", "OTEL_EXPORTER_OTLP_ENDPOINT", ...ADDRESS_VARIABLES]

/** The password in a URL, as it stands there and as it is meant. */
const passwordIn = (text: string): ReadonlyArray<string> => {
  const password = URL.parse(text)?.password ?? ""
  if (password === "") return []
  try {
    return [password, decodeURIComponent(password)]
  } catch {
    return [password]
  }
}

const keyOf = (choice: unknown): ReadonlyArray<string> =>
  Array.isArray(choice) ? choice.flatMap(keyOf) : keyIn(choice)

const keyIn = (choice: unknown): ReadonlyArray<string> => {
  if (typeof choice !== "object" || choice === null) return []
  const { apiKey, headers } = choice as { readonly apiKey?: unknown; readonly headers?: object }
  return [...(typeof apiKey === "string" ? [apiKey] : []), ...secretsOfHeaders({ ...headers })]
}

/** Every secret that the options or the environment name. */
export const secretsOf = Effect.fnUntraced(function* ({ chosen = [], deployment, embedder, recall }: SecretHolders) {
  const read = (name: string) =>
    Effect.map(Config.option(Config.Redacted(name)), (value) =>
      Option.isNone(value) ? [] : [Redacted.value(value.value)]
    )
  const keys = (yield* Effect.all(KEYS.map(read))).flat()
  const urls = (yield* Effect.all(URLS.map(read))).flat()
  const named = [deployment?.database, deployment?.redis].flatMap((url) => url ?? [])
  const password = deployment?.password ?? ""
  const all = [
    ...keys,
    password,
    ...[...urls, ...named].flatMap(passwordIn),
    ...[embedder, chosen, recall].flatMap(keyOf)
  ]
  return [...new Set(all.filter((secret) => secret !== ""))]
})
