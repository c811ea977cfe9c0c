// Shelf: what was read of one tenant's blocks so far, for a judge that reads without waiting.
// Owns the looks, what they found, and the writes that were judged. Leaves fetching and writing to blocks.ts.
// S1  Anyone who looks at what is not on the shelf is stopped there; what he looked for is fetched, and he begins anew.
//     Judging is pure up to its first write, and writes only gather here, so that beginning anew does no harm.
// S2  What decides is reported again with the writes: the answer under a key, a block as it stands, a label that is taken.
//     A block that stands as it did has the same versions behind it.

import { type BlockRows, EVERYBODY } from "@reverie/memory"
import { keyText, type TenantId } from "@reverie/protocol"
import { limited } from "./ports/assistants.ts"

/** One question to the tables, and its values. */
export interface Look {
  readonly sql: string
  readonly values: ReadonlyArray<unknown>
  /** How it is shown again with the writes; absent where a block's body vouches for it. */
  readonly told?: (rows: ReadonlyArray<unknown>) => object
}

/** Stops a judge. It never leaves this adapter. */
export class Missing extends Error {
  readonly key: string
  readonly look: Look

  constructor(key: string, look: Look) {
    super(`not on the shelf: ${key}`)
    this.key = key
    this.look = look
  }
}

interface BodyRow {
  readonly body: string
}

const ofBlock = "block = (SELECT key FROM blocks WHERE tenant = $1 AND id = $2)"

const looks = {
  answer: "SELECT answer AS body FROM block_answers WHERE tenant = $1 AND key = $2",
  block: "SELECT body FROM blocks WHERE tenant = $1 AND id = $2",
  label: "SELECT '' AS body FROM blocks WHERE tenant = $1 AND owner = $2 AND label = $3",
  ofTenant: "SELECT body FROM blocks WHERE tenant = $1",
  // One block may have been given to someone by name and to everybody besides.
  ofOwner: `SELECT body FROM blocks WHERE tenant = $1 AND owner = $2
    UNION ALL SELECT body FROM blocks WHERE tenant = $1 AND owner <> $2 AND key IN
      (SELECT block FROM block_readers WHERE tenant = $1 AND reader IN ($2, '${EVERYBODY}'))`,
  snapshot: `SELECT bytes FROM block_snapshots WHERE ${ofBlock}`,
  patches: `SELECT patch AS bytes FROM block_versions WHERE ${ofBlock} AND version > $3 ORDER BY version`,
  versions: `SELECT body FROM block_versions WHERE ${ofBlock} AND version < $3 ORDER BY version DESC LIMIT $4`
} as const

export class ReadCache {
  readonly #found = new Map<string, { readonly look: Look; readonly rows: ReadonlyArray<unknown> }>()

  put(key: string, look: Look, rows: ReadonlyArray<unknown>): void {
    this.#found.set(key, { look, rows })
  }

  find(look: Look): ReadonlyArray<unknown> {
    const key = JSON.stringify([look.sql, ...look.values])
    const held = this.#found.get(key)
    if (held === undefined) throw new Missing(key, look)
    return held.rows
  }

  /** What was found, to be compared with what stands when the writes come. */
  get told(): ReadonlyArray<object> {
    return [...this.#found.values()].flatMap(({ look, rows }) => (look.told === undefined ? [] : [look.told(rows)]))
  }
}

const firstBody = (rows: ReadonlyArray<unknown>): string | undefined => (rows[0] as BodyRow | undefined)?.body

const bodies = (rows: ReadonlyArray<unknown>): ReadonlyArray<string> => rows.map((row) => (row as BodyRow).body)

const bytesIn = (row: unknown): Uint8Array => (row as { readonly bytes: Uint8Array }).bytes

/** What was judged to be written, as `write_blocks` takes it. */
export interface BlockWriting {
  tenant: TenantId | undefined
  readonly writes: Array<object>
  readonly bytes: Array<Uint8Array>
}

type Looking = Pick<BlockRows, "answer" | "block" | "isTaken" | "blocks" | "snapshot" | "patches" | "versions">

const looksAt = (readCache: ReadCache): Looking => ({
  answer: (tenant, key) => {
    const id = keyText(key)
    const told = (rows: ReadonlyArray<unknown>) => ({ at: "answer", id, found: firstBody(rows) ?? null })
    return firstBody(readCache.find({ sql: looks.answer, values: [tenant, id], told }))
  },
  block: (tenant, name) => {
    const id = keyText(name)
    const told = (rows: ReadonlyArray<unknown>) => ({ at: "block", id, found: firstBody(rows) ?? null })
    return firstBody(readCache.find({ sql: looks.block, values: [tenant, id], told }))
  },
  isTaken: (tenant, by, name) => {
    const owner = keyText(by)
    const label = keyText(name)
    const told = (rows: ReadonlyArray<unknown>) => ({ at: "label", owner, label, found: rows.length > 0 })
    return readCache.find({ sql: looks.label, values: [tenant, owner, label], told }).length > 0
  },
  blocks: (tenant, by) =>
    bodies(
      by === undefined
        ? readCache.find({ sql: looks.ofTenant, values: [tenant] })
        : readCache.find({ sql: looks.ofOwner, values: [tenant, keyText(by)] })
    ),
  snapshot: (tenant, id) => {
    const [row] = readCache.find({ sql: looks.snapshot, values: [tenant, keyText(id)] })
    return row === undefined ? undefined : bytesIn(row)
  },
  patches: (tenant, id, after) =>
    readCache.find({ sql: looks.patches, values: [tenant, keyText(id), limited(after)] }).map(bytesIn),
  versions: (tenant, id, before, limit) =>
    bodies(readCache.find({ sql: looks.versions, values: [tenant, keyText(id), limited(before), limited(limit)] }))
})

/** Looks as they are on the shelf; writes gather. */
export const rowsOn = (readCache: ReadCache, writing: BlockWriting): BlockRows => {
  const put = (tenant: TenantId, write: object): void => {
    writing.tenant = tenant
    writing.writes.push(write)
  }
  return {
    ...looksAt(readCache),
    putAnswer: (tenant, key, answer) => put(tenant, { put: "answer", id: keyText(key), answer }),
    putBlock: (tenant, { body, id, label, owner, readers }) => {
      const names = readers.map((reader) => (reader === EVERYBODY ? EVERYBODY : keyText(reader)))
      put(tenant, {
        put: "block",
        id: keyText(id),
        owner: keyText(owner),
        label: keyText(label),
        body,
        readers: [...new Set(names)]
      })
    },
    putVersion: (tenant, id, version, body, patch) =>
      put(tenant, { put: "version", id: keyText(id), version, body, b: writing.bytes.push(patch) }),
    putSnapshot: (tenant, id, bytes) => put(tenant, { put: "snapshot", id: keyText(id), b: writing.bytes.push(bytes) }),
    remove: (tenant, id) => put(tenant, { put: "nothing", id: keyText(id) })
  }
}
