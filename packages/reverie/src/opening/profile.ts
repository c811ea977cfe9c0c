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
import { type Encryption, encryptionFromEnvironment, SqliteStore, storeSqliteLayer } from "@reverie/store-sqlite"
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
import { FleetDefinitionInvalid } from "../errors.ts"
import { type SegmentsChoice, segmentsNamed, segmentsOf } from "../options/segments.ts"

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
  /**
   * The key that everything in the data directory is encrypted with (AES-256-GCM, a data key for each assistant and tenant): `key` is
   * `{ env }`, `{ file }`, or a service with `wrap` and `unwrap`; what `REVERIE_KEY` or `REVERIE_KEY_FILE` say when left out, and nothing
   * is encrypted without them. A directory in the clear is refused with it until `encrypt` was called on it; a deployment always.
   */
  readonly encryption?: Encryption
  /**
   * Where the compressed older part of the ledger lies (`retention`): `{ directory }`, or an object with `put`, `get`, `remove` and `list`
   * over a bucket; the directory that `REVERIE_SEGMENTS` names when left out, and in the store without that.
   */
  readonly segments?: SegmentsChoice
}

const DEFAULT_DATA = ".reverie"

/** Work on files ends with them: what can no longer be kept is no longer done. */
const whileKept: Profile["sustained"] = (work) =>
  Effect.flatMap(Effect.serviceOption(SqliteStore), (store) =>
    Option.isNone(store) ? work : Effect.raceFirst(work, store.value.lost)
  )

/** One process, no server: SQLite, an in-process queue, the model of choice. */
const embedded = (options: Partial<ProfileOptions>): Profile => {
  const { acceptLoss = false, data = DEFAULT_DATA, durability = "full", encryption, maxBytes } = options
  const store = Layer.unwrap(
    Effect.map(segmentsOf(options.segments), (segments) =>
      storeSqliteLayer(data, { durability, acceptLoss, ...defined({ encryption, maxBytes, segments }) })
    )
  )
  const ports = Layer.mergeAll(
    store,
    queueLocalLayer,
    NoticeHub.layer,
    tokensLayer(options.tokenizer),
    embedderLayer(options.embedder, options.model),
    // Sealed as the store is.
    Layer.provide(recallLayer(data, options.recall), store)
  )
  const measured = Effect.succeed("")
  // A directory has one owner.
  const otherWorkers = Effect.succeed([])
  const keepHours = () => Effect.void
  const worker = { worker: "embedded" }
  return { says: `embedded in ${data}`, ports, measured, otherWorkers, keepHours, worker, sustained: whileKept }
}

/** What a fleet runs on: the deployment that is said, else the directory that is said, else what the environment names. */
export const profileOf = (
  options: Partial<ProfileOptions>
): Effect.Effect<Profile, Config.ConfigError | FleetDefinitionInvalid> => {
  if (options.deployment !== undefined) return inTheClear(options, options.deployment)
  if (options.data !== undefined) return Effect.succeed(embedded(options))
  return Effect.flatMap(deploymentFromConfig, (found) =>
    found === undefined ? Effect.succeed(embedded(options)) : inTheClear(options, found)
  )
}

/** A database that others search has to read what it finds: it is encrypted by its own means, and never said to be by ours. */
const inTheClear = (options: Partial<ProfileOptions>, deployment: Deployment) =>
  Effect.flatMap(
    options.encryption === undefined ? encryptionFromEnvironment : Effect.succeed(options.encryption),
    (encryption): Effect.Effect<Profile, FleetDefinitionInvalid> => {
      if (encryption === undefined) return Effect.succeed(deployed(deployment, options))
      const message =
        "fleet: a key is given, and a database is not encrypted by Reverie; leave the key out and encrypt its disk, or keep a data directory"
      return Effect.fail(new FleetDefinitionInvalid({ subject: "fleet", message }))
    }
  )

/** A directory, only to be looked at. */
const lookedAt = (data: string) =>
  Layer.unwrap(
    Effect.map(segmentsNamed(undefined), (segments) =>
      storeSqliteLayer(data, { readOnly: true, ...defined({ segments }) })
    )
  )

type Read = Layer.Layer<Mailbox | Ledger | PromptStore | BlockStore, unknown>

/** What a look without a fleet reads: the directory that is said, else the servers that the environment names. */
export const reading = (data: string | undefined): Read =>
  data === undefined
    ? Layer.unwrap(
        Effect.map(deploymentFromConfig, (found): Read =>
          found === undefined ? lookedAt(DEFAULT_DATA) : deployedStore(found)
        )
      )
    : lookedAt(data)

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
