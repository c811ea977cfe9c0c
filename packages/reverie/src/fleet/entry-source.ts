// EntrySource: what every group of readings asks a store with: records, entries, and pages of a tenant.
// Owns the shape, and reading page by page. Leaves what is asked to the groups, which it does not know.
// S1  No assistant of another tenant is ever on a page.
// S2  A page with fewer than were asked for is the last one.

import { contextOf, restore, type Settings } from "@reverie/assistant"
import type { PromptStore } from "@reverie/context"
import { type AssistantRecord, Ledger, type OutboxRow, UnreadableRecord } from "@reverie/ledger"
import { type Mailbox, UnknownAssistant } from "@reverie/mailbox"
import type { BlockStore } from "@reverie/memory"
import type { Address, AssistantId, Entry, RecordKind, RecordRow, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { AssistantView } from "../views/view.ts"

const PAGE = 500

/** Runs what only reads. */
export type RunReading = <A, E>(reading: Effect.Effect<A, E, Ledger | Mailbox | BlockStore | PromptStore>) => Promise<A>

/** Before every id. */
const BEGINNING = "" as AssistantId

/** The assistants of a tenant in the order of their ids, after the given one. */
export const tenantPage = (
  tenant: TenantId,
  after: AssistantId | undefined,
  limit: number
): Effect.Effect<ReadonlyArray<AssistantRecord>, Effect.Error<ReturnType<Ledger["Service"]["list"]>>, Ledger> =>
  Ledger.use((ledger) =>
    Effect.map(ledger.list({ tenant, assistant: after ?? BEGINNING }, limit), (page) =>
      page.filter(({ address }) => address.tenant === tenant)
    )
  )

/** The addresses of such a page, also of those whose state can not be read. */
export const addressPage = (tenant: TenantId, after: AssistantId | undefined, limit: number) =>
  Ledger.use((ledger) =>
    Effect.map(ledger.addresses({ tenant, assistant: after ?? BEGINNING }, limit), (page) =>
      page.filter((address) => address.tenant === tenant)
    )
  )

/** What the groups ask with. */
export interface Core {
  readonly tenant: TenantId
  readonly inspect: (id: string) => Promise<AssistantRecord | undefined>
  readonly list: (after?: string, limit?: number) => Promise<ReadonlyArray<AssistantRecord>>
  readonly views: () => Promise<ReadonlyArray<AssistantView>>
  readonly run: RunReading
  readonly address: (id: string) => Address
  readonly entries: (id: string, from?: number, limit?: number) => Promise<ReadonlyArray<OutboxRow>>
  readonly newest: (id: string) => AsyncGenerator<OutboxRow>
  readonly records: (id: string, kinds?: ReadonlyArray<RecordKind>) => Promise<ReadonlyArray<RecordRow>>
}

/** Where entries are read. */
export interface EntrySource {
  readonly address: (id: string) => Address
  readonly inspect: (id: string) => Promise<AssistantRecord | undefined>
  readonly entries: (id: string, from: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
}

/** A page; what of it lies before a segment that cannot be read, where that is something. */
const pageBefore = async (entrySource: Pick<EntrySource, "entries">, id: string, from: number) => {
  try {
    return await entrySource.entries(id, from, PAGE)
  } catch (failure) {
    const before = failure instanceof UnreadableRecord ? (failure.lost?.from ?? 0) - from : 0
    if (before <= 0) throw failure
    return await entrySource.entries(id, from, before)
  }
}

/** The entries of an assistant up to a version, from a number on. Fails at the first that cannot be read. */
export async function* entriesUpTo(
  entrySource: Pick<EntrySource, "entries">,
  id: string,
  version: number,
  begin: number = 1
): AsyncGenerator<Entry> {
  for (let from = begin; from <= version;) {
    const page = await pageBefore(entrySource, id, from)
    for (const { entry } of page) {
      if (entry.no > version) return
      yield entry
    }
    if (page.length === 0) return
    from = (page.at(-1)?.entry.no ?? version) + 1
  }
}

/** What is stored of an assistant that must be there. */
export const recordOf = async (entrySource: EntrySource, id: string): Promise<AssistantRecord> => {
  const record = await entrySource.inspect(id)
  if (record === undefined) throw new UnknownAssistant({ address: entrySource.address(id) })
  return record
}

/** The settings that the store keeps: those of the creation, where its entry does not tell them and none came since. */
export const settingsKept = ({ state }: AssistantRecord): Partial<Settings> => {
  const restored = restore(state.snapshot)
  return Result.isSuccess(restored) ? contextOf(restored.success).settings : {}
}

// History: the entries of one assistant, read from the end, so that little is read. Finding a tick is left to the runtime.

const NEWEST_PAGE = 200

export interface History {
  /** The number of the last entry. */
  readonly version: number
  /** Entries from a number on. */
  readonly read: (from: number, limit: number) => Promise<ReadonlyArray<OutboxRow>>
}

export async function* newestFirst({ read, version }: History): AsyncGenerator<OutboxRow> {
  for (let to = version; to >= 1; to -= NEWEST_PAGE) {
    const from = Math.max(1, to - NEWEST_PAGE + 1)
    yield* (await read(from, to - from + 1)).toReversed()
  }
}
