export * from "./account.ts"
export {
  Allowance,
  type AllowanceAnswer,
  type AllowanceView,
  type LimitChanges,
  type LimitName,
  NOTHING_SPENT,
  type TenantLimits
} from "./account.ts"
export {
  ageOf,
  Archive,
  type Archived,
  type ArchiveReach,
  deletedEntry,
  deletedText,
  type EntrySpan,
  flawOfBound,
  type Retention,
  type RetentionBound
} from "./archive.ts"
export * from "./segment.ts"
export {
  isSegmentKey,
  NO_PLACE,
  type PlacedObject,
  type PlacedSegment,
  placedAs,
  type PlaceReport,
  assertReached,
  readPlaced,
  removeDamaged,
  reportOfPlace,
  SegmentPlace
} from "./segment-place.ts"
export * from "./errors.ts"
export { type Blobs, digestOf, flawOfBlobs, keptAgain, keptParts, type LoosePart, looseParts } from "./blobs.ts"
export { tenantOf, nobodyAt, occupiedBy, judgeBundle } from "./present.ts"
export {
  droppedDigests,
  finderOf,
  goneBetween,
  MIN_FORGOTTEN_CHARS,
  rewritten,
  type Sought,
  soughtChars,
  soughtText,
  withoutSought,
  withoutText
} from "./forgetting/forgetting.ts"
export type { BlockRemaking } from "./forgetting/forgotten-blocks.ts"
export { withoutTicks } from "./forgetting/forgotten-ticks.ts"
export type { Letter } from "./forgetting/handed-on.ts"
export type { Ticks } from "./forgetting/meant-ticks.ts"
export {
  type LeftOfLost,
  leftOfLost,
  lostEntryText,
  lostMailText,
  type LostRow,
  lostRowOf,
  lostSegments,
  withoutDamaged
} from "./forgetting/lost-segments.ts"
export {
  type AssistantRecord,
  type Commit,
  type CreationEntry,
  type DeadLetter,
  type Discarded,
  Ledger,
  MAX_PAGE_CHARS,
  type OpenSend,
  type OutboxRow,
  type RecordFilter,
  type Totals,
  type UsageDimension,
  type UsageKey,
  type UsageQuery,
  type UsageSum
} from "./ledger.ts"
export {
  type BlockRows,
  bundleOfParts,
  byOwner,
  bytesOf,
  createdKey,
  digestsOfTexts,
  lifeParts,
  limitChangesOf,
  type LifeRows,
  type LineRow,
  Pause,
  readerOf,
  tenantParts,
  textOf,
  valueOf
} from "./packing.ts"
export { canonical, isUnopenedLife, Readable } from "./present.ts"
export {
  type AssistantHead,
  type Bundle,
  type BundleHead,
  type BundlePart,
  digestsIn,
  flawOfBundle,
  inOrder,
  isHead,
  type PartKind,
  readPart
} from "./bundle-part.ts"
export * from "./bundles.ts"
export {
  keyIdOf,
  SEALED_OVERHEAD,
  Sealing,
  type Subject,
  type SubjectKey,
  type SubjectKeys
} from "./sealing/sealing.ts"
export {
  openingOf,
  type SealedRows,
  type SealedTables,
  sealingIn,
  type SubjectOf,
  unopenedReason
} from "./sealing/sealed-rows.ts"
