// Segments: where the compressed older part of a store lies, when not in the store.
// Owns the choice, by options first and by the environment (through Config) second, and the border to a storage with promises.

import { isJsonObject } from "@reverie/protocol"
import { type SegmentPlace, SegmentPlaceUnavailable } from "@reverie/ledger"
import { flawOfSegmentDirectory, segmentDirectory } from "@reverie/store-sqlite"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { FleetDefinitionInvalid } from "../errors.ts"

/** Anything that keeps bytes under keys, such as a bucket of an object store. A promise that rejects is tried again later. */
export interface SegmentStorage {
  /** What it is called in errors and reports; no secret. */
  readonly name?: string
  /** Resolves when the bytes are durable. Keys are small letters, digits, `-` and `/`. */
  readonly put: (key: string, bytes: Uint8Array) => Promise<unknown>
  /** The bytes, whole; undefined when nothing is there. */
  readonly get: (key: string) => Promise<Uint8Array | undefined>
  /** Removes these; what is not there is no error. */
  readonly remove: (keys: ReadonlyArray<string>) => Promise<unknown>
  /** All whose key begins so, with their lengths. */
  readonly list: (prefix: string) => Promise<ReadonlyArray<{ readonly key: string; readonly bytes: number }>>
}

/** A directory, or a storage of your own. */
export type SegmentsChoice = { readonly directory: string } | SegmentStorage

const methods = ["put", "get", "remove", "list"] as const

/** What is wrong with a choice, in words; undefined when nothing is. */
export const flawOfSegments = (value: unknown): string | undefined => {
  const isObject = typeof value === "object" && value !== null
  if (isObject && "directory" in value) {
    const isNamed = isJsonObject(value) && typeof value["directory"] === "string" && value["directory"] !== ""
    return isNamed ? undefined : "must name its directory with a text"
  }
  const isStorage = isObject && methods.every((name) => typeof Reflect.get(value, name) === "function")
  return isStorage ? undefined : 'must be { directory: "PATH" } or an object with put, get, remove and list'
}

const placeOfStorage = (storage: SegmentStorage): SegmentPlace["Service"] => {
  const { name = "the storage of the program" } = storage
  const attempt = <A>(operation: SegmentPlaceUnavailable["operation"], run: () => Promise<A>) =>
    Effect.tryPromise({
      try: run,
      catch: (cause) => {
        const reason = cause instanceof Error ? cause.message : String(cause)
        return new SegmentPlaceUnavailable({ operation, place: name, message: `${name}: ${reason}`, cause })
      }
    })
  return {
    says: name,
    put: (key, bytes) => Effect.asVoid(attempt("put", () => storage.put(key, bytes))),
    get: (key) => attempt("get", () => storage.get(key)),
    remove: (keys) => (keys.length === 0 ? Effect.void : Effect.asVoid(attempt("remove", () => storage.remove(keys)))),
    list: (prefix) => attempt("list", () => storage.list(prefix))
  }
}

/** The place that is said, else the directory that the environment names, else none: then segments lie in the store. */
export const segmentsNamed = (
  choice: SegmentsChoice | undefined
): Effect.Effect<SegmentPlace["Service"] | undefined, Config.ConfigError> =>
  Effect.map(directoryOf(choice), (directory) => {
    if (directory !== undefined) return segmentDirectory(directory)
    return choice === undefined || "directory" in choice ? undefined : placeOfStorage(choice)
  })

const directoryOf = (choice: SegmentsChoice | undefined): Effect.Effect<string | undefined, Config.ConfigError> => {
  if (choice !== undefined) return Effect.succeed("directory" in choice ? choice.directory : undefined)
  return Effect.map(Config.option(Config.String("REVERIE_SEGMENTS")), Option.getOrUndefined)
}

/** The same, for who may write there: what can be no place is refused before anything needs it. */
export const segmentsOf = (
  choice: SegmentsChoice | undefined
): Effect.Effect<SegmentPlace["Service"] | undefined, Config.ConfigError | FleetDefinitionInvalid> =>
  Effect.gen(function* () {
    const directory = yield* directoryOf(choice)
    const flaw = directory === undefined ? undefined : flawOfSegmentDirectory(directory)
    if (flaw === undefined) return yield* segmentsNamed(choice)
    const message = `segments: ${flaw}; name a directory that can be written, or one that is to be made`
    return yield* new FleetDefinitionInvalid({ subject: "segments", message })
  })
