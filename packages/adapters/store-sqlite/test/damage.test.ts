import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { assert, describe, it } from "@effect/vitest"
import type { AssistantId } from "@reverie/protocol"
import { openSqliteStore } from "@reverie/store-sqlite"
import { aMessage, anAddress, anEntry, anEnvelope, aState } from "@reverie/testkit"
import * as Effect from "effect/Effect"
import { salvaging } from "../src/files/salvage.ts"
import { aDirectory } from "./directories.ts"

const NAMES = ["ada", "bob", "cid"]
const ENTRIES = 30
const PAGE_BYTES = 512

/** A closed store with three assistants of thirty entries each, one after the other, and mail that waits for each. */
const lived = (names: ReadonlyArray<string> = NAMES) =>
  Effect.gen(function* () {
    const directory = aDirectory()
    const { ledger, mailbox } = yield* openSqliteStore(directory)
    for (const name of names) {
      const address = anAddress(name)
      yield* ledger.create({ address, state: aState({ snapshot: name.repeat(300) }), entry: anEntry() })
      const { claim } = yield* mailbox.claim({ address, worker: "w", leaseMillis: 1_000 })
      for (let no = 2; no <= ENTRIES; no++) {
        const entry = anEntry({ no, messages: [aMessage(`${name} ${no} ${"x".repeat(300)}`)] })
        yield* ledger.commit(claim, { entry, state: aState({ snapshot: name.repeat(300) }) })
      }
      yield* mailbox.accept(anEnvelope({ id: `waiting-${name}`, to: address }))
    }
    return directory
  }).pipe(Effect.scoped)

type PageKind = "leaf" | "overflow"

/** Numbers of the pages of a table that hold some content. */
const pagesOf = (directory: string, table: string, kind: PageKind, content: string): ReadonlyArray<number> => {
  const file = join(directory, "reverie.db")
  const database = new DatabaseSync(file, { readOnly: true })
  const rows = database.prepare("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ?").all(table, kind)
  database.close()
  const bytes = readFileSync(file)
  return rows
    .map(({ pageno }) => Number(pageno))
    .filter((page) => bytes.subarray((page - 1) * PAGE_BYTES, page * PAGE_BYTES).includes(content))
}

/** How many rows a page holds. */
const cellsOf = (directory: string, page: number): number =>
  readFileSync(join(directory, "reverie.db")).readUInt16BE((page - 1) * PAGE_BYTES + 3)

const ruin = (directory: string, pages: ReadonlyArray<number>): void => {
  const file = join(directory, "reverie.db")
  const bytes = readFileSync(file)
  for (const page of pages) bytes.fill(0xa5, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
  writeFileSync(file, bytes)
}

const idsOf = (
  rows: ReadonlyArray<{ readonly address: { readonly assistant: AssistantId } }>
): ReadonlyArray<string> => [...new Set(rows.map(({ address }) => String(address.assistant)))]

describe("one bad page", () => {
  for (const kind of ["leaf", "overflow"] as const) {
    it.effect(`I10 of a ledger (${kind}) is an error of its assistant; the others are read, written, and told of`, () =>
      Effect.gen(function* () {
        const directory = yield* lived()
        const pages = pagesOf(directory, "ledger", kind, kind === "leaf" ? '"no":' : '"bob 2')
        const middle = pages[Math.floor(pages.length / 2)] ?? 0
        assert.isAbove(middle, 0)
        const cells = cellsOf(directory, middle)
        ruin(directory, [middle])
        const { ledger, mailbox } = yield* openSqliteStore(directory)
        const error = yield* Effect.flip(ledger.entries(anAddress("bob"), 1, 100))
        // A page that cannot be read at all, and one that reads as nonsense.
        assert.deepStrictEqual(
          [error._tag, error.recovery],
          kind === "leaf" ? ["LedgerUnavailable", "tell-owner"] : ["UnreadableRecord", "stop"]
        )
        for (const name of ["ada", "cid"]) {
          assert.strictEqual((yield* ledger.entries(anAddress(name), 1, 100)).length, ENTRIES)
        }
        const told = yield* ledger.outbox(0, 1_000)
        assert.deepStrictEqual(idsOf(told), NAMES)
        assert.strictEqual(told.length, 3 * ENTRIES - (kind === "leaf" ? cells : 1))
        const { claim } = yield* mailbox.claim({ address: anAddress("cid"), worker: "w", leaseMillis: 1_000 })
        yield* ledger.commit(claim, { entry: anEntry({ no: ENTRIES + 1 }), state: aState() })
        assert.strictEqual((yield* ledger.outbox(told.at(-1)?.seq ?? 0, 10)).length, 1)
      })
    )
  }

  it.effect("I10 of rows of assistants leaves all others due, listed and at work", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 12 }, (_, index) => `many-${index + 10}`)
      const directory = yield* lived(names)
      const [, page = 0] = pagesOf(directory, "assistants", "leaf", "many-")
      assert.isAbove(page, 0)
      ruin(directory, [page])
      const { ledger, mailbox } = yield* openSqliteStore(directory)
      const listed = idsOf(yield* ledger.list(undefined, 100))
      assert.isAtLeast(listed.length, 8)
      assert.isBelow(listed.length, names.length)
      assert.deepStrictEqual((yield* mailbox.due(100)).map(({ assistant }) => String(assistant)).toSorted(), listed)
      const lost = names.find((name) => !listed.includes(name)) ?? ""
      const error = yield* Effect.flip(mailbox.claim({ address: anAddress(lost), worker: "w", leaseMillis: 1_000 }))
      assert.strictEqual(error.recovery, "tell-owner")
      yield* mailbox.accept(anEnvelope({ id: "more", to: anAddress(listed[0] ?? "") }))
    })
  )
})

describe("salvaging", () => {
  const damage = () => Object.assign(new Error("malformed"), { code: "ERR_SQLITE_ERROR", errcode: 11 })

  it("V1 finds every row that can be read, with look-ups that do not grow with the numbers in between", () => {
    const seqs = [1, 2, 3, 50_000, 60_000, 900_000, 900_001]
    const isDamaged = (seq: number) => seq > 3 && seq < 900_000
    let lookups = 0
    const rows = (after: number, limit: number) => {
      lookups++
      const found = seqs.filter((seq) => seq > after).slice(0, limit)
      if (found.some(isDamaged)) throw damage()
      return found.map((seq) => ({ seq, body: "" }))
    }
    const found = salvaging(rows, () => 900_001)(0, 100)
    assert.deepStrictEqual(
      found.map(({ seq }) => seq),
      [1, 2, 3, 900_000, 900_001]
    )
    assert.isBelow(lookups, 100)
  })
})
