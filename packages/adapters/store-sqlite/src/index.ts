export type { BackupContents } from "./files/backup-contents.ts"
export { backupDirectory, type Restored, restoreDirectory } from "./files/backup.ts"
export {
  BackupRefused,
  StoreBusy,
  StoreDamaged,
  StoreExposed,
  StoreFormatNewer,
  StoreFormatOlder,
  StoreLost,
  StoreMoved,
  StoreSealed,
  StoreShortened,
  StoreUnopenable,
  StoreUnreleased
} from "./errors.ts"
export { processWide, realPath, temporaryPlace } from "./files/shared-place.ts"
export { flawOfSegmentDirectory, segmentDirectory } from "./files/segment-directory.ts"
export { IN_MEMORY, openSqliteStore, SqliteStore, storeSqliteLayer } from "./store.ts"
export { type Encryption, encryptionFromEnvironment, type EncryptionKey, type KeysLacking } from "./sealing/opening.ts"
export { type Encrypted, encryptDirectory, rotateKeys, type Rotated } from "./sealing/resealing.ts"
export type { MasterKey } from "./sealing/keyring.ts"
export type { WriterStats } from "./writer.ts"
