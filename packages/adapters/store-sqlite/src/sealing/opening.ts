// Opening: whether a store is sealed, and the keys that it opens with.
// Owns the judgement before anything is read. Leaves the keys to keyring.ts, sealing a store that is in the clear to resealing.ts.
// O1  A store is in the clear as a whole or sealed as a whole. Without the key of a sealed one, or with a key over one in the
//     clear, it is refused in one line, and nothing of it is changed.
// O2  What is said in a program counts first; else the environment says it (REVERIE_KEY, REVERIE_KEY_FILE); else it is in the clear.

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { keyIdOf } from "@reverie/ledger"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { StoreSealed } from "../errors.ts"
import { isLeftChanging } from "../sql.ts"
import { keyIn, Keyring, masterOf, type MasterKey } from "./keyring.ts"

/**
 * The key that everything at rest is encrypted with: 32 bytes in hex or base64, out of a variable of the environment or a file;
 * or a service that wraps and unwraps, such as a KMS.
 */
export type EncryptionKey = { readonly env: string } | { readonly file: string } | MasterKey

/** How a data directory is encrypted at rest. */
export interface Encryption {
  /** Where the master key is, or the service that wraps with it. */
  readonly key: EncryptionKey
  /** The file with the data keys, wrapped; `keys.db` in the data directory when not said. */
  readonly keys?: string
}

const KEYS = "keys.db"

export const keysOf = (directory: string, encryption?: Encryption): string =>
  encryption?.keys ?? (directory === ":memory:" ? ":memory:" : join(directory, KEYS))

const FORM = "32 bytes in hex or base64, as `openssl rand -hex 32` makes them"

const named = (name: string) => Config.option(Config.Redacted(name)).pipe(Effect.orDie)

const unfit = (directory: string, reason: string): StoreSealed => new StoreSealed({ directory, reason })

const inText = (directory: string, where: string, text: string): Effect.Effect<MasterKey, StoreSealed> => {
  const key = keyIn(text)
  return key === undefined
    ? Effect.fail(unfit(directory, `${where} is no key; it must be ${FORM}`))
    : Effect.succeed(masterOf(key))
}

const inFile = (directory: string, file: string): Effect.Effect<MasterKey, StoreSealed> =>
  Effect.flatMap(
    Effect.try({
      try: () => readFileSync(file, "utf8"),
      catch: () => unfit(directory, `its key is to be in ${file}, which can not be read`)
    }),
    (text) => inText(directory, `what is in ${file}`, text)
  )

/** What wraps and unwraps the keys of a directory. */
export const masterIn = (directory: string, key: EncryptionKey): Effect.Effect<MasterKey, StoreSealed> => {
  if ("file" in key) return inFile(directory, key.file)
  if (!("env" in key)) return Effect.succeed(key)
  return Effect.flatMap(named(key.env), (found) =>
    Option.isNone(found)
      ? Effect.fail(unfit(directory, `its key is to be in ${key.env}, which the environment does not set`))
      : inText(directory, key.env, Redacted.value(found.value))
  )
}

/** What the environment says; undefined when it says nothing. */
export const encryptionFromEnvironment: Effect.Effect<Encryption | undefined> = Effect.gen(function* () {
  if (Option.isSome(yield* named("REVERIE_KEY"))) return { key: { env: "REVERIE_KEY" } }
  const file = yield* named("REVERIE_KEY_FILE")
  return Option.isNone(file) ? undefined : { key: { file: Redacted.value(file.value) } }
})

/** Tables one of which has a row wherever anything is kept, and a column of theirs that is text in the clear. */
const WITNESSES = [
  "state FROM assistants",
  "body FROM prompts WHERE body IS NOT NULL",
  "body FROM blocks",
  "answer FROM block_answers"
]

/** Whether what is kept is sealed; undefined where nothing is kept yet. */
export const isSealedIn = (database: DatabaseSync): boolean | undefined => {
  for (const witness of WITNESSES) {
    const [row] = database.prepare(`SELECT ${witness} LIMIT 1`).all()
    if (row !== undefined) return typeof Object.values(row)[0] !== "string"
  }
  return undefined
}

/** What of a data directory does not open with the data keys that lie in it. */
export interface KeysLacking {
  /** Assistants whose keys are not among them: they were forgotten, or are sealed with later ones. */
  readonly assistants: ReadonlyArray<string>
  /** There are no keys in it. */
  readonly isAll: boolean
}

/** What tells by which key a value is sealed stands at its beginning. */
const SEALED_BY = "SELECT tenant, id, substr(state, 1, 64) AS state FROM assistants ORDER BY tenant, id"

/** Undefined where nothing lacks, or nothing is sealed. */
export const lackingOf = (database: DatabaseSync, path: string): KeysLacking | undefined => {
  if (isSealedIn(database) !== true) return undefined
  if (!Keyring.isThere(path)) return { assistants: [], isAll: true }
  const ids = Keyring.idsIn(path)
  const assistants = database
    .prepare(SEALED_BY)
    .all()
    .flatMap(({ id, state, tenant }) =>
      state instanceof Uint8Array && ids.has(keyIdOf(state)) ? [] : [`${String(tenant)}/${String(id)}`]
    )
  return assistants.length === 0 ? undefined : { assistants, isAll: false }
}

/** The same of a file that is not open. */
export const lackingIn = (directory: string, file: string): KeysLacking | undefined => {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return lackingOf(database, keysOf(directory))
  } finally {
    database.close()
  }
}

const BROKEN_OFF =
  "it is encrypted, and a change of its keys was broken off: run `reverie keys rotate --renew` again where it was that, which finishes " +
  "it; where not, start the fleet once"

const failureOf = (directory: string, error: unknown): StoreSealed => {
  if (isLeftChanging(error)) return unfit(directory, BROKEN_OFF)
  const why = error instanceof Error ? error.message : String(error)
  return unfit(
    directory,
    `it is encrypted, and the key at hand does not open its keys (${why}); give the key that it was made with`
  )
}

/** Whatever is asked of it: nothing but that file helps. */
export const keysGone = (directory: string, file: string): StoreSealed =>
  unfit(directory, `it is encrypted, and its keys are not there; put ${file} back`)

/** The keys of a sealed store for as long as the scope lasts; undefined of one in the clear. */
export const openKeys = Effect.fnUntraced(function* (
  directory: string,
  database: DatabaseSync,
  said: Encryption | undefined,
  readOnly: boolean
) {
  const encryption = said ?? (directory === ":memory:" ? undefined : yield* encryptionFromEnvironment)
  const isSealed = isSealedIn(database)
  const file = keysOf(directory, encryption)
  if (encryption === undefined) {
    // An encrypting that was broken off leaves keys, and everything in the clear.
    if (isSealed === false || (isSealed === undefined && !Keyring.isThere(file))) return undefined
    return yield* unfit(
      directory,
      "it is encrypted, and no key is given; set REVERIE_KEY or REVERIE_KEY_FILE, or `encryption` in a program"
    )
  }
  if (isSealed === false) {
    return yield* unfit(
      directory,
      "a key is given, and it is not encrypted yet; run `reverie encrypt` on it once, while no fleet works on it"
    )
  }
  if (isSealed === true && !Keyring.isThere(file)) {
    return yield* keysGone(directory, file)
  }
  if (readOnly && !Keyring.isThere(file)) return undefined
  const master = yield* masterIn(directory, encryption.key)
  return yield* openKeyring(directory, file, master, readOnly)
})

export const openKeyring = (directory: string, file: string, master: MasterKey, readOnly = false) =>
  Effect.acquireRelease(
    Effect.tryPromise({
      try: () => Keyring.open(file, master, readOnly),
      catch: (error) => failureOf(directory, error)
    }),
    (keyring) => Effect.sync(() => keyring.close())
  )
