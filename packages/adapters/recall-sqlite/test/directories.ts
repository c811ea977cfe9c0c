// Directories: fresh places on disk for tests, gone when the file's tests have ended.

import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"

const root = mkdtempSync(join(tmpdir(), "reverie-recall-"))
let count = 0
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** A path at which nothing exists yet. */
export const aDirectory = (): string => join(root, String(count++))
