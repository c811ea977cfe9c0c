export { type Digested, digest, MIN_TRUST_TO_REPLACE, withdraw } from "./digest.ts"
export { entityIdOf, idsIn, namedIn } from "./name.ts"
export {
  factObservation,
  type Gathered,
  gather,
  type NewObservation,
  type News,
  type Observed,
  observe
} from "./observe.ts"
export {
  MAX_PENDING,
  type NewNote,
  type NotedResult,
  type NoteRefused,
  noteObservation,
  type PendingObservation,
  pendingObservations
} from "./pending.ts"
export {
  type ProfileAction,
  profileActions,
  type ProfileAnswer,
  type ProfileAsk,
  profileAsk,
  type ProfileOperation,
  readProfileAnswer
} from "./profile-ask.ts"
export { entityChanges, entityOfId, profileChanges } from "./profile-index.ts"
export { ENTITY_CONTEXT_CHARS, entityContext, PROFILE_CHARS, profileText } from "./profile-text.ts"
export {
  Attribute,
  EntityProfile,
  type EntityType,
  entityTypes,
  isEntityProfile,
  MAX_ATTRIBUTES,
  MAX_OBSERVATIONS,
  newProfile,
  Observation,
  profileNamed,
  type Profiles,
  type Superseded,
  withAlias
} from "./profile.ts"
export {
  CONTACT_GAP_MILLIS,
  HALF_FAMILIAR_CONTACTS,
  HALF_LIFE_MILLIS,
  layers,
  met,
  Relationship,
  strangers,
  strengthAt,
  strengthOf,
  type Tier,
  tierAt,
  tierOf,
  tiers,
  tiersOf
} from "./relationship.ts"
