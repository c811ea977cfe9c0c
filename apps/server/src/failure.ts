// Failure: what a failure of the fleet is to the caller by HTTP.
// Owns the table from error tags to failures of the contract. Leaves their form to api/errors.ts.
// X1  Only errors that the fleet knows say their message; anything else is `Unexpected`, told in full to the process alone.

import {
  type ApiFailure,
  Conflict,
  Forbidden,
  isApiFailure,
  LimitReached,
  Malformed,
  NotFound,
  Unavailable,
  Unexpected
} from "./api/errors.ts"

type Kind = new (facts: { readonly message: string }) => ApiFailure

const kindByTag: Readonly<Record<string, Kind>> = {
  EnvelopeInvalid: Malformed,
  IdReused: Malformed,
  TargetAmbiguous: Malformed,
  SchemaError: Malformed,
  IdInvalid: Malformed,
  PromptInvalid: Malformed,
  NoPlaceAfter: Malformed,
  DefinitionUnknown: NotFound,
  ApprovalUnknown: NotFound,
  UnknownAssistant: NotFound,
  DeadLetterUnknown: NotFound,
  MemoryUnknown: NotFound,
  DeadLetterRefused: Conflict,
  MemoryRefused: Conflict,
  RecallRefused: Malformed,
  ReminderInvalid: Malformed,
  ReminderUnknown: NotFound,
  BlockUnknown: NotFound,
  PromptUnknown: NotFound,
  BlockRefused: Conflict,
  DefinitionMissing: Conflict,
  BuiltInLocked: Conflict,
  ForkRefused: Conflict,
  KeyTaken: Conflict,
  PlacesTaken: Conflict,
  PromptConflict: Conflict,
  PromptUnreadable: Conflict,
  NothingToUndo: Conflict,
  ImportRefused: Malformed,
  ConsentNeeded: Forbidden,
  DelegationRefused: Conflict,
  BudgetRefused: Conflict,
  FleetClosed: Unavailable,
  // What this fleet, as it is, can not do.
  FleetDefinitionInvalid: Conflict,
  UnreadableRecord: Conflict,
  BlockUnreadable: Conflict,
  CallLimited: LimitReached,
  MailboxUnavailable: Unavailable,
  LedgerUnavailable: Unavailable,
  RecallUnavailable: Unavailable,
  BlockStoreUnavailable: Unavailable,
  PromptStoreUnavailable: Unavailable,
  StoreUnreachable: Unavailable
}

const text = (value: unknown, key: string): string | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const found: unknown = Reflect.get(value, key)
  return typeof found === "string" ? found : undefined
}

/** What was asked for may be named in a failure, and may hold anything. */
const oneLine = (message: string): string => message.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")

const inOneLine = (failure: ApiFailure): ApiFailure => {
  const message = oneLine(failure.message)
  if (message === failure.message) return failure
  const Same = failure.constructor as Kind
  return new Same({ ...(failure as { readonly message: string }), message })
}

export const apiFailureOf = (error: unknown, onTrouble: (line: string) => void): ApiFailure => {
  if (isApiFailure(error)) return inOneLine(error)
  const Known = kindByTag[text(error, "_tag") ?? ""]
  if (Known !== undefined) return new Known({ message: oneLine(text(error, "message") ?? "it could not be done") })
  onTrouble(error instanceof Error ? (error.stack ?? error.message) : String(error))
  return new Unexpected({ message: "it went wrong here; the log of the server says more" })
}
