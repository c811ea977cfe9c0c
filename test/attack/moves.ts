// Moves: what several attacks do to a server or its files.

import { execFileSync } from "node:child_process"
import { join } from "node:path"
import type { Posted } from "./client.ts"
import { type Judged, judge, type JudgeOptions } from "./judge.ts"
import type { Scene, Server } from "./scene.ts"

export const hasShell = (): boolean => {
  try {
    execFileSync("sqlite3", ["--version"])
    return true
  } catch {
    return false
  }
}

/** As another program looks in and leaves: read-write, like the shell, so that it may take itself for the last user. */
export const lookIn = (scene: Scene): void => {
  const file = join(scene.data, "reverie.db")
  if (hasShell()) execFileSync("sqlite3", [file, "SELECT count(*) FROM envelopes"])
  else {
    const code = `const { DatabaseSync } = require("node:sqlite"); const d = new DatabaseSync(${JSON.stringify(file)}); d.prepare("SELECT count(*) FROM envelopes").get(); d.close()`
    execFileSync(process.execPath, ["-e", code])
  }
}

/** Sends until so many are acknowledged, or the server ends. */
export const sendMany = async (
  server: Server,
  count: number,
  prefix: string,
  said = "hello",
  to: ReadonlyArray<string> = ["ann", "bob", "cid", "dee"]
): Promise<ReadonlyArray<Posted>> => {
  const acknowledged: Array<Posted> = []
  for (let at = 0; at < count && !server.hasEnded(); at++) {
    const posted = { assistant: to[at % to.length] ?? "ann", id: `${prefix}-${at}` }
    if (await server.client.post(posted, said)) acknowledged.push(posted)
  }
  return acknowledged
}

/** Starts a server on what is left, asks it what became of messages, and ends it. A refused start has lost them all. */
export const judgeAgain = async (
  scene: Scene,
  posted: ReadonlyArray<Posted>,
  options: JudgeOptions & { readonly data?: string } = {}
): Promise<Judged> => {
  const { data } = options
  try {
    const again = await scene.serve(data === undefined ? {} : { data })
    const judged = await judge(again.client, posted, options)
    await again.stop()
    return judged
  } catch (error) {
    const remarks = [`no server starts: ${error instanceof Error ? error.message : String(error)}`]
    const acknowledged = posted.length
    return { acknowledged, lost: acknowledged, duplicated: 0, innocents: 0, recoverSeconds: 0, remarks }
  }
}
