export {
  type BlockDraft,
  type BlockView,
  type BlockViewer,
  EVERYBODY,
  type KeptBlock,
  type BlockChange,
  type BlockReading,
  type BlockRequest,
  type BlockSetting,
  BlockStore,
  type BlockVersion,
  type KeptChange
} from "./blocks/block-store.ts"
export { blanked } from "./blocks/blanked.ts"
export { StructuredDocument, loadLoro, type Loro } from "./blocks/document/document.ts"
export {
  keepBlocks,
  expired,
  NOTHING_WORKING,
  noteLine,
  workingText,
  type WorkingLine,
  type WorkingMemory
} from "./blocks/keeper.ts"
export { Documents } from "./blocks/document/documents.ts"
export { blockChanges, flawOfDraft } from "./blocks/settings.ts"
export {
  type BlockOperation,
  type BlockAct,
  type BlockPermission,
  blockPermissions,
  type BlockType
} from "./blocks/operation.ts"
export type { BlockLooks, BlockRows, BlockTransactions, BlockWrites } from "./blocks/rows.ts"
export { BlockSchema, type PartSchema, PLAIN_TEXT, readBlockSchema } from "./blocks/document/schema.ts"
export { mayRead, kindsOf, nameKey, spokenKinds, latestOf, fits, threadsOf } from "./facts/consolidate.ts"
export {
  entryId,
  entryNoOfId,
  episodicKinds,
  keyOfId,
  type MemoryEntry,
  type MemoryKind,
  memoryKinds,
  OF_NO_ONE,
  messageId,
  placeOfId,
  type Readers,
  echoingTools,
  originOf
} from "./indexing/messages.ts"
export {
  BlockRefused,
  BlockStoreUnavailable,
  BlockUnknown,
  BlockUnreadable,
  ConsentNeeded,
  RecallUnavailable,
  VectorsUnfit
} from "./errors.ts"
export { Fact, inParts, isFact, type Lived, trustOf, wholeId } from "./fact.ts"
export { applyRoutes, retiredByPerson, acceptedByPerson, reviews, type Review } from "./facts/apply-routes.ts"
export { readRoutes, type Route, routeAsk, routeQuestions } from "./facts/routes.ts"
export { flawOfCorrected, writtenByPerson } from "./facts/write.ts"
export { factIndex, consolidateAsk, type Consolidated, type Proposal, readConsolidated } from "./facts/consolidate.ts"
export {
  applyLinks,
  asksFor,
  linkAsk,
  type Linking,
  linkQuestions,
  roomFor,
  mendLinks,
  readLinks,
  type Episode,
  episodesToPrune,
  putAway,
  retireFacts
} from "./facts/link.ts"
export { itemOf, linkItemOf, type NightChange, takeBack } from "./facts/take-back.ts"
export {
  contextOf,
  indexOf,
  type IndexWindow,
  isWindowWhole,
  NOTHING_SAID,
  recordChanges,
  threadOf
} from "./indexing/indexing.ts"
export { applyChanges, indexInSteps, type RecentEntries, searchRecent } from "./indexing/recent-entries.ts"
export { admitFact, asData, lineOfHit, type MemoryLine, releaseFact, withDecisionNote } from "./integrity/as-data.ts"
export { cleanLine, cleanText, holdsInvisible } from "./integrity/clean-text.ts"
export { instructionIn, rulesReady } from "./integrity/instruction.ts"
export { profileWrittenByPerson } from "./profiles/edit.ts"
export { digest, withdraw, profileAsk, readProfileAnswer } from "./profiles/digest.ts"
export { entityIdOf, idsIn, namedIn, namingPeople } from "./profiles/name.ts"
export { gather, nextNews, observe, noteObservation, pendingObservations } from "./profiles/observe.ts"
export { profileText } from "./profiles/profile-text.ts"
export {
  EntityProfile,
  entityTypes,
  isEntityProfile,
  isPassing,
  newProfile,
  profileNamed,
  threadOfObservation,
  toldBy,
  type Profiles,
  waitingIn
} from "./profiles/profile.ts"
export {
  type IndexChange,
  type SearchKind,
  recallScopes,
  type RecallScope,
  type RecallQuery,
  type Why,
  type Hit,
  type Joined,
  Recall,
  type RecallOptions,
  effectiveMode,
  type SearchMode,
  searchModes,
  DEFAULT_RECALL_LIMIT,
  MAX_RECALL_LIMIT,
  type Recalled,
  MAX_PASSAGE_CHARS,
  Passage,
  isPassage,
  threadOfPassage
} from "./recall.ts"
export {
  beginningOf,
  INDEX_START,
  type IndexPosition,
  type IndexSpan,
  samePosition,
  type VectorModel,
  type IndexSnapshot,
  type IndexSnapshots,
  type IndexStanding,
  type IndexState,
  indexStates,
  type IndexStatus
} from "./indexing/index-status.ts"
export { foundBy, type SearchAnswer, type SearchAsked, Searcher, type ToSearchThread } from "./searcher.ts"
export { type Candidate, candidateLimit, rank, searchKindOf } from "./text/rank.ts"
export { meantBy } from "./text/fusion.ts"
export { conditionKeys, demandsOf, keyWithin, sparseEntry, sparseQuery, termKey } from "./text/sparse.ts"
export { firstRound, inRounds, joined, secondRound } from "./text/rounds.ts"
export {
  type AttachedFact,
  classOf,
  classWeights,
  fieldsOf,
  indexWeights,
  meaningOf,
  queryTerms,
  stopTerms,
  termsOf,
  rarity,
  termWeights
} from "./text/tokens.ts"
