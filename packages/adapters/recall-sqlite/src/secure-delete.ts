// SecureDelete: makes sure that what was erased is not in the file any more.
// Owns the two places where it would stay: free pages, and the log. Leaves erasing to erasing.ts.
// S1  After `end` nothing of what was erased since `begin` can be read in the file or its log.

import type { DatabaseSync } from "node:sqlite"

export const secureDeleteOf = (database: DatabaseSync) => ({
  begin: (): void => database.exec("PRAGMA secure_delete = ON"),
  end: (): void => database.exec("PRAGMA secure_delete = FAST; PRAGMA wal_checkpoint(TRUNCATE)")
})

export type SecureDelete = ReturnType<typeof secureDeleteOf>
