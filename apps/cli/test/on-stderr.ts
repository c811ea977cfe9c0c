// OnStderr: what a test makes the command line say to the one who watches.

import { later } from "@reverie/testkit/later"
import { vi } from "vitest"

/** From now on nothing goes to stderr; answers how to read what would have, and lets go of it. */
export const onStderr = (): (() => string) => {
  let said = ""
  const written = vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    said += String(text)
    return true
  })
  later(() => written.mockRestore())
  return () => {
    written.mockRestore()
    return said
  }
}
