// Profile: which adapters a fleet runs on.
// Owns the choice, by options first and by the environment (through Config) second; nothing set means embedded.
// P1  A directory that is said is used, whatever the environment names: no one's data goes elsewhere by surprise.

import { defined } from "@reverie/protocol"
import type { PromptStore } from "@reverie/context"
import type { Ledger } from "@reverie/ledger"
import type { Mailbox } from "@reverie/mailbox"
import type { BlockStore } from "@reverie/memory"
import { NoticeHub } from "@reverie/runtime"
import { queueLocalLayer } from "@reverie/queue-local"
import { SqliteStore, storeSqliteLayer } from "@reverie/store-sqlite"
import type * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import {
  deployed,
  deployedStore,
  type Deployment,
  deploymentFromConfig,
  type Profile,
  type RecallChoice,
  recallLayer,
  deployedRecallLayer,
  type TokenizerChoice,
  tokensLayer
} from "./deployment.ts"
import { type EmbedderChoice, embedderLayer } from "../models/embedder-choice.ts"
import type { ModelChoice } from "../models/model-choice.ts"

export interface ProfileOptions {
  /** Directory of the embedded store; `:memory:` keeps nothing. Saying it means no servers. */
  readonly data: string
  /** The servers of a deployment; what the environment names when neither this nor `data` is said. */
  readonly deployment?: Deployment
  /** Which model is asked: what the environment names, and the offline stand-in without that, when left out. */
  readonly model?: ModelChoice
  /** What texts are embedded with: what the environment names when left out; without one, memory is searched by words. */
  readonly embedder?: EmbedderChoice
  /** Where memories are found again: what the environment names, or a file beside the store, when not said. */
  readonly recall?: RecallChoice
  /**
   * What counts the tokens of texts, both by the vocabulary o200k_base: `gpt-tokenizer`, which comes with Reverie, when left out;
   * `js-tiktoken` must be installed (`npm i js-tiktoken`).
   */
  readonly tokenizer?: TokenizerChoice
  /** "normal" trades the last commits before a power cut for speed; a process kill loses nothing either way. */
  readonly durability?: "full" | "normal"
  /** Most bytes the data may have; beyond it the store refuses to write, as on a full disk. */
  readonly maxBytes?: number
  /** Opens the data directory though it holds less than was acknowledged; see `StoreShortened`. */
  readonly acceptLoss?: boolean
}

const DEFAULT_DATA = ".reverie"

/** Work on files ends with them: what can no longer be kept is no longer done. */
const whileKept: Profile["sustained"] = (work) =>
  Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
    Option.isNone(store) ? work : Effect.raceFirst(work, store.value.lost)
  )

/** One process, no server: SQLite, an in-process queue, the model of choice. */
const embedded = (options: Partial<ProfileOptions>): Profile => {
  const { acceptLoss = false, data = DEFAULT_DATA, durability = "full", maxBytes } = options
  const ports = Layer.mergeAll(
    storeSqliteLayer(data, { durability, acceptLoss, ...defined({ maxBytes }) }),
    queueLocalLayer,
    NoticeHub.layer,
    tokensLayer(options.tokenizer),
    embedderLayer(options.embedder, options.model),
    recallLayer(data, options.recall)
  )
  const measured = Effect.succeed("")
  // A directory has one owner.
  const otherWorkers = Effect.succeed([])
  const keepHours = () => Effect.void
  const worker = { worker: "embedded" }
  return { says: `embedded in ${data}`, ports, measured, otherWorkers, keepHours, worker, sustained: whileKept }
}

/** What a fleet runs on: the deployment that is said, else the directory that is said, else what the environment names. */
export const profileOf = (options: Partial<ProfileOptions>): Effect.Effect<Profile, Config.ConfigError> => {
  if (options.deployment !== undefined) return Effect.succeed(deployed(options.deployment, options))
  if (options.data !== undefined) return Effect.succeed(embedded(options))
  return Effect.map(deploymentFromConfig, (found) =>
    found === undefined ? embedded(options) : deployed(found, options)
  )
}

type Read = Layer.Layer<Mailbox | Ledger | PromptStore | BlockStore, unknown>

/** What a look without a fleet reads: the directory that is said, else the servers that the environment names. */
export const reading = (data: string | undefined): Read =>
  data === undefined
    ? Layer.unwrap(
        Effect.map(deploymentFromConfig, (found): Read =>
          found === undefined ? storeSqliteLayer(DEFAULT_DATA, { readOnly: true }) : deployedStore(found)
        )
      )
    : storeSqliteLayer(data, { readOnly: true })

/** The index of memories that belongs to it, and what questions are embedded with. */
export const readingIndex = (data: string | undefined): Layer.Layer<never, unknown> => {
  const beside = (place: string) => Layer.merge(recallLayer(place), embedderLayer(undefined))
  return data === undefined
    ? Layer.unwrap(
        Effect.map(deploymentFromConfig, (found) =>
          found === undefined ? beside(DEFAULT_DATA) : Layer.merge(deployedRecallLayer(found), embedderLayer(undefined))
        )
      )
    : beside(data)
}
