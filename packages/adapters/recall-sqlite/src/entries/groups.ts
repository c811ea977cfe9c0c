// Groups: who may read entries, as keys.
// Owns the rows of groups and who belongs to which. Leaves the right to read to `mayRead`, which is asked again of every
// entry that is found.
// G1  A group has a key that no other group ever had.

import type { DatabaseSync } from "node:sqlite"
import type { IndexPosition, Readers, RecallScope } from "@reverie/memory"
import type { Address, AssistantId, TenantId } from "@reverie/protocol"

import { change, query } from "../sql.ts"
import type { Owner } from "./row.ts"

export interface Group {
  readonly key: number
  readonly position: number
  readonly digest: string
  readonly entries: number
}

type Name = readonly [tenant: string, kind: "own" | "named" | "fleet", assistant: string]

/** The kind of an owner that is being erased. */
const GONE = "gone"

const ownName = ({ assistant, tenant }: Address): Name => [tenant, "own", assistant]
const fleetName = ({ tenant }: Address): Name => [tenant, "fleet", ""]

const readerNames = (owner: Address, readers: Readers): ReadonlyArray<Name> => {
  if (readers === "owner") return []
  if (readers === "fleet") return [fleetName(owner)]
  return [...new Set(readers)]
    .filter((assistant) => assistant !== owner.assistant)
    .map((assistant) => [owner.tenant, "named", assistant] as const)
}

const viewerNames = (viewer: Address, scope: RecallScope): ReadonlyArray<Name> => {
  const own = ownName(viewer)
  if (scope === "own") return [own]
  const named: Name = [viewer.tenant, "named", viewer.assistant]
  return scope === "shared" ? [own, named] : [own, named, fleetName(viewer)]
}

export const groupQueries = (database: DatabaseSync) => {
  const byName = query<Group>(
    database,
    "SELECT key, position, digest, entries FROM groups WHERE tenant = ? AND kind = ? AND assistant = ?"
  )
  const insert = change(database, "INSERT INTO groups (tenant, kind, assistant) VALUES (?, ?, ?)")
  const made = (name: Name): Group =>
    byName.one(...name) ?? { key: insert(...name), position: 0, digest: "", entries: 0 }
  const move = change(database, "UPDATE groups SET position = ?, digest = ?, entries = entries + ? WHERE key = ?")
  const grow = change(database, "UPDATE groups SET entries = entries + ? WHERE key = ?")
  const owner = query<{ readonly tenant: TenantId; readonly assistant: AssistantId }>(
    database,
    "SELECT tenant, assistant FROM groups WHERE key = ? AND kind = 'own'"
  )
  const remove = change(database, "DELETE FROM groups WHERE key = ?")
  const retire = change(
    database,
    `UPDATE groups SET kind = '${GONE}', assistant = assistant || ' ' || key WHERE key = ?`
  )
  const gone = query<{ readonly key: number; readonly tenant: TenantId; readonly assistant: string }>(
    database,
    `SELECT key, tenant, assistant FROM groups WHERE kind = '${GONE}'`
  )
  return {
    own: (address: Address) => byName.one(...ownName(address)),
    ownMade: (address: Address) => made(ownName(address)),
    /** Whose entries are under the key of a group; undefined when they are being erased. */
    owner: (key: number): Address | undefined => owner.one(key),
    /** Who may read besides the owner. */
    readers: (owner: Address, readers: Readers) => readerNames(owner, readers).map((name) => made(name).key),
    /** What a viewer may read in a scope. */
    readableBy: (viewer: Address, scope: RecallScope): ReadonlyArray<Group> =>
      viewerNames(viewer, scope).flatMap((name) => byName.one(...name) ?? []),
    /** Where an owner stands now, and by how many more entries it has. */
    move: (key: number, { digest, no }: IndexPosition, more: number) => void move(no, digest, more, key),
    grow: (key: number, by: number) => void grow(by, key),
    /** From now on nothing of an owner is found; its entries are still to be removed. */
    retire: (key: number) => void retire(key),
    /** Owners that are being erased. Their names end before the blank. */
    gone: (): ReadonlyArray<Owner> =>
      gone.all().map(({ assistant, key, tenant }) => ({
        key,
        address: { tenant, assistant: assistant.slice(0, assistant.indexOf(" ")) as AssistantId }
      })),
    remove: (key: number) => void remove(key)
  }
}

export type Groups = ReturnType<typeof groupQueries>
