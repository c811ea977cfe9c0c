// Backup: a data directory as a whole copy, and back, as promises.
// Owns the border to the adapter. Leaves copying and verifying to it; the database of a deployment is backed up with its
// own tools.

import { type BackupContents, backupDirectory, type Restored, restoreDirectory } from "@reverie/store-sqlite"
import * as Effect from "effect/Effect"

/** What is backed up, and where to. */
export interface BackupRequest {
  /** The data directory; work on it may go on. */
  readonly data: string
  /** A directory that is not there yet. */
  readonly to: string
  /** Replaces a backup that is there. */
  readonly force?: boolean
}

/**
 * Copies a data directory while a fleet works on it. Resolves when the copy is verified and on the disk: it holds at least
 * all that was acknowledged when this was called. Rejects with BackupRefused.
 */
export const backup = ({ data, force = false, to }: BackupRequest): Promise<BackupContents> =>
  Effect.runPromise(backupDirectory(data, to, { force }))

/** What is put back, and where to. */
export interface RestoreRequest {
  /** What `backup` made. */
  readonly from: string
  /** The data directory to be; no one may work on it. */
  readonly data: string
  /** Puts the backup in the place of what is there, which is kept beside it. */
  readonly force?: boolean
}

/** Puts a backup back after it was read whole and found undamaged. Rejects with BackupRefused or StoreBusy. */
export const restore = ({ data, force = false, from }: RestoreRequest): Promise<Restored> =>
  Effect.runPromise(restoreDirectory(from, data, { force }))
