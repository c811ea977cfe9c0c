// Directories: fresh places on disk for tests, gone when the file's tests have ended.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { later } from "@reverie/testkit/later"

/** A path at which nothing exists yet. */
export const aDirectory = (): string => {
  const folder = mkdtempSync(join(tmpdir(), "reverie-store-"))
  later(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "data")
}
