import { describe, expect, it } from "vitest"
import { ADA, aSealing, PLACE } from "./sealings.ts"

/** Sealed to be read soon, and to be read whenever: only the time that it takes tells which. */
describe.each([true, false])("sealing, for now: %s", (isForNow) => {
  it("S1 what was sealed opens in its place, as often as it is asked for", () => {
    const { sealing } = aSealing()
    const sealed = sealing.seal(ADA, PLACE, "the berth is free from noon", isForNow)
    for (const _ of [1, 2, 3]) {
      expect(sealing.open(PLACE, sealed)).toEqual({ content: "the berth is free from noon", subject: ADA })
    }
  })

  it("S1, S4 with any byte changed it does not open, and afterwards as it was it does", () => {
    const { sealing } = aSealing()
    const sealed = sealing.seal(ADA, PLACE, "noon", isForNow)
    for (const at of sealed.keys()) {
      const changed = Uint8Array.from(sealed)
      changed[at] = (changed[at] ?? 0) ^ 1
      expect(sealing.open(PLACE, changed), `byte ${at}`).toBeUndefined()
    }
    expect(sealing.open(PLACE, sealed.subarray(0, -1))).toBeUndefined()
    expect(sealing.open(PLACE, sealed)?.content).toBe("noon")
  })

  it("S1, S4 in another place it does not open", () => {
    const { sealing } = aSealing()
    const sealed = sealing.seal(ADA, PLACE, "noon", isForNow)
    expect(sealing.open(["letters", "body", "l-2"], sealed)).toBeUndefined()
    expect(sealing.open(["notes", "body", "l-1"], sealed)).toBeUndefined()
    expect(sealing.open(PLACE, sealed)?.content).toBe("noon")
  })

  it("S4 half of a character reads as it does from the bytes", () => {
    const { sealing } = aSealing()
    const sealed = sealing.seal(ADA, PLACE, "noon \ud83d", isForNow)
    for (const _ of [1, 2]) expect(sealing.open(PLACE, sealed)?.content).toBe("noon \ufffd")
  })

  it("S3, S4 when the key is gone it does not open, however lately it was sealed", () => {
    const { destroy, sealing } = aSealing()
    const sealed = sealing.seal(ADA, PLACE, "noon", isForNow)
    destroy()
    expect(sealing.open(PLACE, sealed)).toBeUndefined()
  })

  it("S4 what is written over while it is kept answers with its own text, and so does each of very many", () => {
    const { sealing } = aSealing()
    // Some are kept whose memory is used again by others, and some are too long to be kept.
    const lengths = [1_000, 1, 700, 1]
    const many = Array.from({ length: 6_000 }, (_, at) => {
      const text = `${at} ${"long ".repeat(lengths[at % lengths.length] ?? 1)}`
      return { text, sealed: sealing.seal(ADA, PLACE, text, isForNow) }
    })
    for (const { sealed, text } of many) expect(sealing.open(PLACE, sealed)?.content).toBe(text)
  })
})
