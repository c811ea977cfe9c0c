// Planted: files get the rights that the umask leaves, and keep those they have.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"

const { chmodSync, openSync, statSync, writeFileSync } = fs
Object.assign(fs, {
  chmodSync: (path: string, mode: number) => (statSync(path).isDirectory() ? chmodSync(path, mode) : undefined),
  openSync: (path: string, flags: string) => openSync(path, flags),
  writeFileSync: (path: string, data: string) => writeFileSync(path, data)
})
syncBuiltinESMExports()
