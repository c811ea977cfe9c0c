import { assert, it } from "@effect/vitest"
import { isWithheld, Ledger, NO_PLACE, rowsOfSegment, UnreadableRecord, Unreadable } from "@reverie/ledger"
import { AssistantId, TenantId } from "@reverie/protocol"
import * as Effect from "effect/Effect"
import { pageOnce } from "../src/recall/index-parts.ts"

const ada = { tenant: TenantId.make("default"), assistant: AssistantId.make("ada") }

/** A ledger whose entries 1 to 9 are in a segment that cannot be read, with nothing behind it. */
const ledgerWithout = (message: string) =>
  Ledger.of({
    entries: (_: unknown, from: number) =>
      from > 9
        ? Effect.succeed([])
        : Effect.fail(new UnreadableRecord({ record: "entry 9 of ada", message, lost: { from: 1, to: 9 } }))
  } as unknown as Ledger["Service"])

const pageWithout = (message: string) =>
  Effect.result(Effect.provideService(pageOnce(ada, 1, 20), Ledger, ledgerWithout(message)))

it.effect("L4 of dreams: what is lost is passed by with the reason, and what may be whole fails", () =>
  Effect.gen(function* () {
    const missing = yield* pageWithout("segment 4 is missing")
    assert.deepStrictEqual(missing._tag === "Success" ? missing.success : missing, {
      rows: [],
      lost: [{ from: 1, to: 9, why: "segment 4 is missing" }]
    })
    assert.strictEqual((yield* pageWithout(`segment 4 lies apart, ${NO_PLACE}`))._tag, "Failure")
  })
)

it("C3 of segments: one that another Node reads may be whole, and one that is missing or damaged is not", () => {
  const reasonOf = (found: Parameters<typeof rowsOfSegment>[1]) => {
    const read = rowsOfSegment(4, found)
    return read instanceof Unreadable ? read.message : "it is read"
  }
  assert.isTrue(isWithheld(reasonOf({ codec: "of-tomorrow", bytes: Uint8Array.of(1) })))
  assert.isFalse(isWithheld(reasonOf({ codec: "brotli", bytes: Uint8Array.of(1) })))
  assert.isFalse(isWithheld(reasonOf(undefined)))
})
