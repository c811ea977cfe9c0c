// Sources: the product's own code, searched for ways to run text as code.
// Owns the list of what is not allowed, and the few places where a process may be started. Leaves judging to the test.

import { readFileSync } from "node:fs"
import { execFileSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../..", import.meta.url))

const forbidden: Readonly<Record<string, RegExp>> = {
  eval: /(?<![.\w])eval\s*\(/,
  "new Function": /\bnew Function\s*\(/,
  "node:vm": /["'](node:)?vm["']/,
  "a shell": /\bshell:\s*true|\bexec(Sync)?\(/,
  "a child process": /["'](node:)?child_process["']/,
  "raw HTML": /dangerouslySetInnerHTML|\.innerHTML\s*=|insertAdjacentHTML|document\.write\(["`\x27]/
}

/**
 * Servers for tests, MCP servers that a user names, the page's build, and Node itself for an isolated tool: programs by path,
 * never through a shell.
 */
const mayStartPrograms = [
  /^packages\/testkit\/src\/servers\//,
  /^packages\/adapters\/mcp\/src\//,
  /^packages\/adapters\/run-place\/src\/isolated\.ts$/,
  /^apps\/cli\/src\/(running\/page|commands\/doctor)\.ts$/
]

/** The one word of ours that is run by it is the name of Node's collector, which has no other door. */
const mayUseVm = /^apps\/cli\/src\/commands\/running\/serve\.ts$/

/** `exec` of a database or a regular expression is none of these. */
const harmless = /\.exec\(/g

export const waysToRunText = () => {
  const args = ["ls-files", "-z", "--", "packages/**/src/**", "apps/**/src/**"]
  const paths = execFileSync("git", args, { cwd: root, encoding: "utf8" })
    .split("\0")
    .filter((path) => /\.tsx?$/.test(path))
  const found = paths.flatMap((path) => {
    const text = readFileSync(`${root}/${path}`, "utf8").replaceAll(harmless, ".search(")
    return Object.entries(forbidden).flatMap(([name, pattern]) =>
      pattern.test(text) &&
      !(name === "a child process" && mayStartPrograms.some((each) => each.test(path))) &&
      !(name === "node:vm" && mayUseVm.test(path))
        ? [`${path}: ${name}`]
        : []
    )
  })
  return { examined: paths.length, found }
}
