// Planted: the log has no second name, as on a file system without hard links, and the looking comes too late.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { FileGuard } from "../../../packages/adapters/store-sqlite/src/files/safeguard.ts"

fs.linkSync = () => {
  throw Object.assign(new Error("planted"), { code: "EPERM", syscall: "link" })
}
syncBuiltinESMExports()
FileGuard.prototype.loss = () => undefined
FileGuard.prototype.lossOfPlaces = () => undefined
