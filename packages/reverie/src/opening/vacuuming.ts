// Vacuuming: what is due by retention is put away now, and the room of what is no longer there is given back.
// Owns the order of it and its account. Leaves the policy to the runtime, the rows and files to the stores.
// V1  Nothing that is read changes but what a policy deletes. Others wait while a file is written anew; in PostgreSQL none is, and
//     no one waits.
// V2  What is due is found by reading alone: it is asked of a store that others work on, and makes nothing where nothing is.
// V3  An assistant whose definition the fleet does not have is left as it is: its policy is not known here, and may keep everything.

import { Archive, type Archived, archivedTogether, NOTHING_ARCHIVED, type PlaceReport } from "@reverie/ledger"
import { Recall } from "@reverie/memory"
import { type AssistantId, defined, type TenantId } from "@reverie/protocol"
import { retain, TenantRetention } from "@reverie/runtime"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Definitions } from "../fleet/memories.ts"
import { tenantPage } from "../fleet/entry-source.ts"
import type { FleetDefinition } from "../fleet-options.ts"

/** For `fleet.vacuum`. */
export interface VacuumOptions {
  /** Says what is due, and changes nothing. */
  readonly dryRun?: boolean
}

/** What `fleet.vacuum` did. */
export interface VacuumReport {
  /** When it began, in milliseconds since the epoch. */
  readonly at: number
  /** Whether it was a dry run, which counts entries alone, and in which the files stay as they are. */
  readonly dryRun: boolean
  /** How many assistants of this tenant it went over. */
  readonly assistants: number
  /** How many of them were left as they are, because the fleet does not have their definition and so not their policy. */
  readonly left: number
  /** Ledger entries, and the messages that began them, that were compressed. */
  readonly archived: Archived
  /** Those that lost their words for good. */
  readonly deleted: Archived
  /**
   * Size of the store and of its index, of all tenants, before and after: files of a data directory; tables in PostgreSQL, without an
   * index beside them.
   */
  readonly bytesBefore: number
  /** The same afterwards. */
  readonly bytesAfter: number
  /** Of segments that lie apart from the store, of all tenants; not there where none do. */
  readonly segments?: PlaceReport
}

const PAGE = 500

export const vacuumed = Effect.fnUntraced(function* (
  tenant: TenantId,
  definitions: Definitions,
  { dryRun = false }: VacuumOptions
) {
  const at = yield* Clock.currentTimeMillis
  const archive = yield* Archive
  const policies = new Map(definitions.map(({ name, retention }) => [name, retention]))
  let [archived, deleted] = [NOTHING_ARCHIVED, NOTHING_ARCHIVED]
  let after: AssistantId | undefined
  let [assistants, left] = [0, 0]
  while (true) {
    const page = yield* tenantPage(tenant, after, PAGE)
    for (const { address, state } of page) {
      if (!policies.has(state.definition)) {
        left++
        continue
      }
      const done = yield* retain(address, policies.get(state.definition), { least: 1, isTrial: dryRun })
      archived = archivedTogether(archived, done.archived)
      deleted = archivedTogether(deleted, done.deleted)
    }
    assistants += page.length
    after = page.at(-1)?.address.assistant
    if (page.length < PAGE) break
  }
  const index = yield* Effect.serviceOption(Recall)
  const files = [archive.compact(dryRun), Option.isNone(index) ? undefined : index.value.compact?.(dryRun)]
  let [bytesBefore, bytesAfter] = [0, 0]
  for (const file of files) {
    const size = file === undefined ? undefined : yield* file
    bytesBefore += size?.bytesBefore ?? 0
    bytesAfter += size?.bytesAfter ?? 0
  }
  const segments = yield* archive.apart(dryRun)
  const done = { at, dryRun, assistants, left, archived, deleted, bytesBefore, bytesAfter }
  return { ...done, ...defined({ segments }) } satisfies VacuumReport
})

/** What a fleet of this definition would do, found by reading alone: of the size of an index nothing is known then. */
export const dueNow = (tenant: TenantId, definition: FleetDefinition | undefined) =>
  Effect.flatMap(Effect.serviceOption(Archive), (archive) =>
    Option.isNone(archive)
      ? Effect.die(new Error("a store without an archive"))
      : vacuumed(tenant, definition?.assistants ?? [], { dryRun: true }).pipe(
          Effect.provideService(Archive, archive.value),
          Effect.provideService(TenantRetention, (of) => definition?.tenants?.[of]?.retention)
        )
  )
