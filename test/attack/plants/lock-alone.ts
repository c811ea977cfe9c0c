// Planted: the directory is owned by its POSIX lock alone, as before: no listening name, no number of a process.
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { Server } from "node:net"

const refuse = (code: string): never => {
  throw Object.assign(new Error("planted"), { code })
}

const { readFileSync } = fs
const reading = (path: fs.PathOrFileDescriptor, ...rest: ReadonlyArray<unknown>): unknown =>
  typeof path === "string" && /^\/proc\/\d+\/stat$/.test(path)
    ? refuse("EACCES")
    : Reflect.apply(readFileSync, fs, [path, ...rest])
Object.assign(fs, { readFileSync: reading })
syncBuiltinESMExports()

const listen: unknown = Reflect.get(Server.prototype, "listen")
function listening(this: Server, ...args: ReadonlyArray<unknown>): Server {
  if (typeof args[0] !== "string") return Reflect.apply(listen as () => Server, this, args) as Server
  queueMicrotask(() => this.emit("error", Object.assign(new Error("planted"), { code: "EACCES" })))
  return this
}
Object.assign(Server.prototype, { listen: listening })
