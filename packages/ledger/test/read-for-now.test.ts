import { createDecipheriv } from "node:crypto"
import { expect, it, vi } from "vitest"
import { ADA, aSealing, PLACE } from "./sealings.ts"

// As it is, and counted.
vi.mock("node:crypto", { spy: true })

it("what is read for now is not decrypted, and what is read again is", () => {
  const { sealing } = aSealing()
  const sealed = sealing.seal(ADA, PLACE, "noon", true)
  vi.mocked(createDecipheriv).mockClear()
  sealing.open(PLACE, sealed)
  expect(createDecipheriv).toHaveBeenCalledTimes(0)
  sealing.open(PLACE, sealed)
  expect(createDecipheriv).toHaveBeenCalledTimes(1)
})
