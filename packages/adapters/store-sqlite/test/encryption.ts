// Encryption: keys for tests.

import { randomBytes } from "node:crypto"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Encryption } from "@reverie/store-sqlite"
import { aDirectory } from "./directories.ts"

/** A master key in a file, apart from all data. */
export const anEncryption = (): Encryption => {
  const file = join(aDirectory(), "..", "master.key")
  writeFileSync(file, `${randomBytes(32).toString("hex")}\n`)
  return { key: { file } }
}
