// Survey: which servers a run of tests uses, in words.
// Owns the sentence. Leaves finding to place.
// V1  A server that is not there is named too, with the reason, so that what was not proved is seen.

import { spawnSync } from "node:child_process"
import { placeOf, type ServerName, serverNames } from "./place.ts"

/** A url as it may be printed. */
export const withoutPassword = (url: string): string => {
  if (!URL.canParse(url)) return "(no url)"
  const shown = new URL(url)
  if (shown.password !== "") shown.password = "***"
  return shown.href
}

/** Where one server is from, or why it is not there. */
export const clauseOf = (server: ServerName): string => {
  const place = placeOf(server)
  switch (place.origin) {
    case "environment":
      return `${server} of the environment at ${withoutPassword(place.url)}`
    case "machine": {
      const { stdout } = spawnSync(place.program, ["--version"], { encoding: "utf8" })
      const version = /v=(\S+)|\(PostgreSQL\) (\S+)/.exec(stdout)
      return `${server} ${version?.[1] ?? version?.[2] ?? ""} of this machine (${place.program})`
    }
    case undefined:
      return `no ${server} (${place.reason})`
  }
}

/** One sentence: each server, where it is from, or why it is not there. */
export const describe = (servers: ReadonlyArray<ServerName> = serverNames): string =>
  `servers of this run: ${servers.map(clauseOf).join("; ")}`
