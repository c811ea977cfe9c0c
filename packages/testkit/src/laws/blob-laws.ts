// Blob laws: bytes that come back, once and apart (ledger B1-B5, B7).

import * as assert from "node:assert/strict"
import { BlobRefused, digestOf, Ledger } from "@reverie/ledger"
import { MAX_PART_BYTES, TenantId } from "@reverie/protocol"
import type { Mailbox } from "@reverie/mailbox"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Law } from "../law.ts"
import { hostileTexts } from "./steps.ts"

const harbor = TenantId.make("harbor")
const tower = TenantId.make("tower")

const keep = (tenant: TenantId, ...blobs: ReadonlyArray<Uint8Array>) =>
  Ledger.use((ledger) => ledger.blobs.keep(tenant, blobs))

const read = (tenant: TenantId, digest: string) => Ledger.use((ledger) => ledger.blobs.read(tenant, digest))

/** So many bytes, each value among them, in an order of their own. */
const some = (length: number, salt = 0): Uint8Array =>
  Uint8Array.from({ length }, (_, index) => (index * 167 + (index >> 8) * 13 + salt) % 256)

const hex = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString("hex")

const refused = (...blobs: ReadonlyArray<Uint8Array>) =>
  Effect.gen(function* () {
    const outcome = yield* Effect.result(keep(harbor, ...blobs))
    assert.ok(Result.isFailure(outcome) && outcome.failure instanceof BlobRefused, "it was kept")
    const [first] = blobs
    assert.equal(first === undefined ? undefined : yield* read(harbor, digestOf(first)), undefined)
  })

export const blobLaws: ReadonlyArray<Law<Mailbox | Ledger>> = [
  {
    id: "B1.bytes",
    says: "bytes come back as they were kept, of every value and of any length, under the digest of each",
    check: Effect.gen(function* () {
      const blobs = [some(1), some(256), Uint8Array.of(0, 0, 0), some(100_003), some(200_000)]
      const digests = yield* keep(harbor, ...blobs)
      assert.deepEqual(digests, blobs.map(digestOf))
      for (const [index, bytes] of blobs.entries()) {
        assert.equal(hex(yield* read(harbor, digests[index] ?? "")), hex(bytes))
      }
    })
  },
  {
    id: "B1.own",
    says: "what was kept does not change with the array that was given, nor with one that was read",
    check: Effect.gen(function* () {
      const given = some(64)
      const [digest = ""] = yield* keep(harbor, given)
      given.fill(7)
      const found = yield* read(harbor, digest)
      assert.equal(hex(found), hex(some(64)))
      found?.fill(9)
      assert.equal(hex(yield* read(harbor, digest)), hex(some(64)))
    })
  },
  {
    id: "B2.once",
    says: "the same bytes have one digest, kept again, twice in one list, or by several at once",
    check: Effect.gen(function* () {
      const bytes = some(4_096, 3)
      const first = yield* keep(harbor, bytes, some(10), bytes)
      assert.equal(first[0], first[2])
      const again = yield* Effect.forEach([1, 2, 3], () => keep(harbor, some(10), bytes), { concurrency: "unbounded" })
      for (const digests of again) assert.deepEqual(digests, [first[1], first[0]])
      assert.equal(hex(yield* read(harbor, first[0] ?? "")), hex(bytes))
    })
  },
  {
    id: "B3.tenant",
    says: "a tenant reads only what it kept, also where another one kept the same bytes",
    check: Effect.gen(function* () {
      const [digest = ""] = yield* keep(harbor, some(32))
      assert.equal(yield* read(tower, digest), undefined)
      const [same] = yield* keep(tower, some(32))
      assert.equal(same, digest)
      assert.equal(hex(yield* read(tower, digest)), hex(some(32)))
      const [other = ""] = yield* keep(tower, some(33))
      assert.equal(yield* read(harbor, other), undefined)
    })
  },
  {
    id: "B4.hostile",
    says: "a text that is no digest of anything here names nothing, and is no failure",
    check: Effect.gen(function* () {
      const [digest = ""] = yield* keep(harbor, some(32))
      const others = [digest.toUpperCase(), digest.slice(1), `${digest}0`, ` ${digest}`, `${digest}\n`, "0".repeat(64)]
      for (const text of [...hostileTexts, ...others, "", "%", "..", "' OR '1'='1"]) {
        assert.equal(yield* read(harbor, text), undefined, JSON.stringify(text.slice(0, 40)))
      }
    })
  },
  {
    id: "B5.bounds",
    says: "no bytes and too many are refused, with what came beside them; some megabytes are kept",
    check: Effect.gen(function* () {
      yield* refused(some(12, 1), new Uint8Array())
      yield* refused(some(12, 1), new Uint8Array(MAX_PART_BYTES + 1))
      const [digest = ""] = yield* keep(harbor, new Uint8Array(2_500_000).fill(5))
      assert.equal((yield* read(harbor, digest))?.length, 2_500_000)
      assert.deepEqual(yield* keep(harbor), [])
    })
  },
  {
    id: "B7.lacking",
    says: "of some digests those are lacking of which the tenant keeps nothing, in their order",
    check: Effect.gen(function* () {
      const lacking = (tenant: TenantId, ...digests: ReadonlyArray<string>) =>
        Ledger.use((ledger) => ledger.blobs.lacking(tenant, digests))
      const [one = "", two = ""] = yield* keep(harbor, some(32), some(33))
      const others = ["0".repeat(64), one.toUpperCase(), "", "' OR '1'='1"]
      assert.deepEqual(yield* lacking(harbor, ...others, one, two), others)
      assert.deepEqual(yield* lacking(tower, two, one), [two, one])
      assert.deepEqual(yield* lacking(harbor), [])
    })
  }
]
