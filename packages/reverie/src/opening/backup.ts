// Backup: a data directory as a whole, as promises: its copies, and its encryption at rest.
// Owns the border to the adapter. Leaves copying, verifying, sealing and keys to it; the database of a deployment is backed up with its
// own tools.

import type { Sealing } from "@reverie/ledger"
import { defined } from "@reverie/protocol"
import {
  type BackupContents,
  backupDirectory,
  type Encrypted,
  encryptDirectory,
  type Encryption,
  encryptionFromEnvironment,
  type EncryptionKey,
  type Restored,
  restoreDirectory,
  type Rotated,
  rotateKeys as rotateDirectory,
  SqliteStore,
  StoreSealed
} from "@reverie/store-sqlite"
import { type SegmentsChoice, segmentsOf } from "../options/segments.ts"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** What is backed up, and where to. */
export interface BackupRequest {
  /** The data directory; work on it may go on. */
  readonly data: string
  /** A directory that is not there yet, or is empty; apart from the data directory. */
  readonly to: string
  /** Replaces a backup that is there, once the new one is whole. A directory with anything else in it is never replaced. */
  readonly force?: boolean
  /**
   * Copies the data keys of an encrypted directory too, wrapped as they are: `keys.db` in it, or the file that
   * `encryption.keys` names. Such a backup is opened with the master key alone, and what is forgotten later stays readable in it.
   */
  readonly keys?: boolean | string
  /** Where older segments lie apart from it, to take them along; what `REVERIE_SEGMENTS` names when left out. */
  readonly segments?: SegmentsChoice
  /** Does without older segments that are missing or damaged, and lists them (`segmentsLost`); otherwise one such refuses the backup. */
  readonly withoutLost?: boolean
}

/**
 * Copies a data directory while a fleet works on it. Resolves when the copy is verified and on the disk: it holds at least
 * all that was acknowledged when this was called. Rejects with BackupRefused.
 */
export const backup = ({ data, segments, to, ...options }: BackupRequest): Promise<BackupContents> =>
  Effect.runPromise(
    Effect.flatMap(segmentsOf(segments), (place) =>
      backupDirectory(data, to, { ...options, ...defined({ segments: place }) })
    )
  )

/** What is put back, and where to. */
export interface RestoreRequest {
  /** What `backup` made. */
  readonly from: string
  /** The data directory to be; no one may work on it. */
  readonly data: string
  /** Puts the backup in the place of what is there, which is kept beside it. */
  readonly force?: boolean
  /** Where segments of it are put that lay apart; what `REVERIE_SEGMENTS` names when left out. */
  readonly segments?: SegmentsChoice
}

/** Puts a backup back after it was read whole and found undamaged. Rejects with BackupRefused or StoreBusy. */
export const restore = ({ data, force = false, from, segments }: RestoreRequest): Promise<Restored> =>
  Effect.runPromise(
    Effect.flatMap(segmentsOf(segments), (place) =>
      restoreDirectory(from, data, { force, ...defined({ segments: place }) })
    )
  )

// Encryption: a data directory that no one reads without its key.

/** What the store beside is sealed with; undefined where none is, or it is in the clear. */
export const sealingHere: Effect.Effect<Sealing | undefined> = Effect.map(Effect.serviceOption(SqliteStore), (store) =>
  Option.isNone(store) ? undefined : store.value.sealing
)

const said = (directory: string, encryption: Encryption | undefined) =>
  Effect.flatMap(encryption === undefined ? encryptionFromEnvironment : Effect.succeed(encryption), (found) =>
    found === undefined
      ? Effect.fail(
          new StoreSealed({
            directory,
            reason: "no key is given; set REVERIE_KEY or REVERIE_KEY_FILE, or say `encryption`"
          })
        )
      : Effect.succeed(found)
  )

/** What is encrypted, and with which key. */
export interface EncryptRequest {
  /** The data directory; no one may work on it. */
  readonly data: string
  /** The key; what the environment says (`REVERIE_KEY`, `REVERIE_KEY_FILE`) when left out. */
  readonly encryption?: Encryption
  /** Where older segments lie apart from it; what `REVERIE_SEGMENTS` names when left out. */
  readonly segments?: SegmentsChoice
  /**
   * Goes on without older segments that are missing or damaged there, and lists them (`lost`); otherwise one such refuses it. One that is
   * put back later does not open any more.
   */
  readonly withoutLost?: boolean
}

/**
 * Encrypts a data directory that is in the clear: every row is sealed, the files are written anew, and the index of memories goes
 * (the next opening makes it again). All of it or nothing. Rejects with StoreSealed, StoreBusy and StoreUnopenable.
 * @example await encrypt({ data: ".reverie", encryption: { key: { file: "/run/secrets/reverie.key" } } })
 */
export const encrypt = ({ data, encryption, segments, withoutLost }: EncryptRequest): Promise<Encrypted> =>
  Effect.runPromise(
    Effect.flatMap(Effect.all([said(data, encryption), segmentsOf(segments)]), ([found, place]) =>
      encryptDirectory(data, found, defined({ segments: place, withoutLost }))
    )
  )

/** Whose keys are changed, and how. */
export interface RotateKeysRequest extends EncryptRequest {
  /** The master key from now on; the one of before when left out. */
  readonly to?: EncryptionKey
  /**
   * Makes new data keys too, and seals every row anew with them. Without it no row changes. A backup of before that has no keys in it can
   * not be read with these: make a new one.
   */
  readonly renew?: boolean
}

/**
 * Wraps the data keys of an encrypted data directory anew, under a new root key and where one is said a new master key.
 * Rejects with StoreSealed, StoreBusy and StoreUnopenable.
 * @example await rotateKeys({ data: ".reverie", to: { env: "REVERIE_NEW_KEY" } })
 */
export const rotateKeys = ({
  data,
  encryption,
  renew,
  segments,
  to,
  withoutLost
}: RotateKeysRequest): Promise<Rotated> =>
  Effect.runPromise(
    Effect.flatMap(Effect.all([said(data, encryption), segmentsOf(segments)]), ([found, place]) =>
      rotateDirectory(data, found, defined({ renew, segments: place, to, withoutLost }))
    )
  )
