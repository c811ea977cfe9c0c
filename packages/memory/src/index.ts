export { type BlockDraft, type BlockView, type BlockViewer, EVERYBODY, type KeptBlock } from "./blocks/block.ts"
export {
  type BlockChange,
  type BlockReading,
  type BlockRequest,
  type BlockSetting,
  BlockStore,
  type BlockVersion
} from "./blocks/block-store.ts"
export { StructuredDocument } from "./blocks/document/document.ts"
export { flawOfDraft, keepBlocks } from "./blocks/keeper.ts"
export { Documents } from "./blocks/document/documents.ts"
export { blockChanges } from "./blocks/indexed.ts"
export { loadLoro } from "./blocks/document/loro.ts"
export type { BlockOperation } from "./blocks/operation.ts"
export { type BlockAct, type BlockPermission, blockPermissions, type BlockType } from "./blocks/permission.ts"
export type { BlockLooks, BlockRows, BlockTransactions, BlockWrites } from "./blocks/rows.ts"
export { BlockSchema, type PartSchema, PLAIN_TEXT, readBlockSchema } from "./blocks/document/schema.ts"
export * from "./asked.ts"
export {
  entryId,
  entryNoOfId,
  episodicKinds,
  keyOfId,
  type MemoryEntry,
  type MemoryKind,
  memoryKinds,
  messageId,
  placeOfId,
  type Readers
} from "./entry.ts"
export {
  BlockRefused,
  BlockStoreUnavailable,
  BlockUnknown,
  ConsentNeeded,
  RecallUnavailable,
  VectorsUnfit
} from "./errors.ts"
export { Fact, isFact, trustOf } from "./fact.ts"
export { applyRoutes, readRoutes, type Route, routeAsk, routeQuestions } from "./facts/apply-routes.ts"
export { factIndex } from "./facts/candidates.ts"
export { consolidateAsk, type Consolidated, type Proposal, readConsolidated } from "./facts/consolidate.ts"
export { applyLinks, linkAsk, linkQuestions, mendLinks, readLinks } from "./facts/link.ts"
export { type Episode, episodesToPrune, retireFacts } from "./facts/prune.ts"
export * from "./index-position.ts"
export { indexOf, type IndexWindow, isWindowWhole, NOTHING_SAID, recordChanges } from "./indexing/indexing.ts"
export { echoingTools, originOf } from "./indexing/messages.ts"
export { applyChanges, indexInSteps, type RecentEntries, searchRecent } from "./indexing/recent-entries.ts"
export { admitFact } from "./integrity/admit.ts"
export { asData, lineOfHit, type MemoryLine } from "./integrity/as-data.ts"
export { cleanLine, cleanText, holdsInvisible } from "./integrity/clean-text.ts"
export { instructionIn, rulesReady } from "./integrity/instruction.ts"
export * from "./lived.ts"
export { isPassage, MAX_PASSAGE_CHARS, Passage } from "./passage.ts"
export { digest, withdraw } from "./profiles/digest.ts"
export { entityIdOf, idsIn, namedIn } from "./profiles/name.ts"
export { gather, observe } from "./profiles/observe.ts"
export { noteObservation, pendingObservations } from "./profiles/pending.ts"
export { profileAsk, readProfileAnswer } from "./profiles/profile-ask.ts"
export { profileText } from "./profiles/profile-text.ts"
export {
  EntityProfile,
  entityTypes,
  isEntityProfile,
  newProfile,
  profileNamed,
  type Profiles
} from "./profiles/profile.ts"
export * from "./recall.ts"
export * from "./recalled.ts"
export { type Candidate, candidateLimit, fusedScore, FUSION_K, rank, searchKindOf } from "./text/rank.ts"
export { sparseEntry, sparseQuery } from "./text/sparse.ts"
export { type AttachedFact, fieldsOf, meaningOf, queryTerms } from "./text/terms.ts"
export { termsOf } from "./text/tokens.ts"
export { rarity, termWeights } from "./text/weights.ts"
export { expired, NOTHING_WORKING, noteLine, workingText, type WorkingLine, type WorkingMemory } from "./working.ts"
