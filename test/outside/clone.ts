// Clone: what a fresh clone of the repository installs to run, how soon it answers, and how it ends.
// Owns that one row. Leaves the package to the other rows.
// G1  What is cloned is the last commit: what is not committed is not tried.
// G2  The machine has an old Node, so that the newer one, the largest part, is installed too.
// G3  Beside it everything is installed as the lockfile names it, which is what a first start took before it chose: the same
//     machine, the same cache of npm, one after the other. What the first start takes longer than a later one is its installing:
//     the page is built in it too. What was installed stays until the end: a file system that has just taken away 60,000 files
//     makes new ones more slowly for seconds.

import { lstatSync, readdirSync, readFileSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import { join } from "node:path"
import { root } from "../../scripts/check/program.ts"
import type { Row, Scene } from "./scene.ts"

const MOST_MEGABYTES = 300
/** On a machine at rest; on a busy one as much later as others work on it. */
const MOST_SECONDS = 3
/** Of what installing everything takes. */
const MOST_SHARE = 0.5
/** What a first start installed before it chose: everything has grown since, and both times are figures. */
const MEGABYTES_BEFORE = 942
const STARTS = 3
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/

/** What files take up on the disk. */
const megabytesIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, entry) => sum + (lstatSync(join(entry.parentPath, entry.name)).blocks * 512) / 1_048_576,
    0
  )

/** Processes that work in this folder, where the system shows them. */
const workingIn = (folder: string): ReadonlyArray<string> =>
  process.platform === "linux"
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .filter((pid) => {
          try {
            return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(folder)
          } catch {
            return false
          }
        })
    : []

const cloned = async (scene: Scene, name: string): Promise<string> => {
  await scene.must(scene.folder, "git", ["clone", "--quiet", "--no-local", root, name])
  return join(scene.folder, name)
}

/** G3: how long everything takes. */
const secondsOfAll = async (scene: Scene, node: string, figure: (name: string, value: number) => void) => {
  const folder = await cloned(scene, "all")
  const empty = megabytesIn(folder)
  const args = ["ci", "--include=dev", "--include=optional", "--no-audit", "--no-fund"]
  const { seconds } = await scene.must(folder, "npm", args, { node, seconds: 600 })
  const megabytes = megabytesIn(folder) - empty
  figure("megabytesOfAll", Math.round(megabytes))
  figure("secondsToInstallAll", Math.round(seconds))
  figure("secondsToInstallAllAsItWas", Math.round((seconds * MEGABYTES_BEFORE) / megabytes))
  return seconds
}

export const clone: Row = {
  name: "clone",
  says: `a fresh clone: npm start installs at most ${MOST_MEGABYTES} MB in half of the time of all, Ctrl-C ends all of it, and the tools still come`,
  run: async (scene, figure) => {
    const node = await scene.node("20")
    const all = await secondsOfAll(scene, node, figure)
    const folder = await cloned(scene, "clone")
    const empty = megabytesIn(folder)
    const args = ["start", "--", "--port", "0"]
    const begun = performance.now()
    const first = await scene.run(folder, "npm", args, { node, until: ADDRESS, endBy: "SIGINT", seconds: 400 })
    const secondsToFirst = (performance.now() - begun) / 1_000
    figure("secondsToFirstAddress", Math.round(secondsToFirst))
    const megabytes = Math.round(megabytesIn(folder) - empty)
    figure("megabytes", megabytes)
    const left = workingIn(folder)
    const seconds: Array<number> = []
    const [load = 0] = loadavg()
    const busy = Math.round((1 + load / availableParallelism()) * 10) / 10
    for (let times = 0; times < STARTS; times++) {
      const again = performance.now()
      let heard = Number.POSITIVE_INFINITY
      const onAddress = { test: (text: string) => ADDRESS.test(text) && ((heard = performance.now() - again), true) }
      const until = onAddress as unknown as RegExp
      await scene.run(folder, "npm", args, { node, until, endBy: "SIGINT", seconds: 60 })
      seconds.push(Math.round(heard / 100) / 10)
    }
    figure("secondsToAddress", Math.min(...seconds))
    const installing = secondsToFirst - Math.min(...seconds)
    figure("secondsToInstall", Math.round(installing))
    const checked = await scene.run(folder, "npm", ["run", "-s", "check", "--", "--only", "format"], {
      node,
      seconds: 600
    })
    return [
      ["the address is printed", ADDRESS.test(first.text), first.text],
      [`at most ${MOST_MEGABYTES} MB are installed`, megabytes <= MOST_MEGABYTES, `${megabytes} MB`],
      [
        `installing takes at most ${MOST_SHARE} of the time that everything takes`,
        installing <= MOST_SHARE * all,
        `${installing.toFixed(1)} s of ${all.toFixed(1)} s`
      ],
      ["Ctrl-C ends it, with its code", [0, 130].includes(first.code), `${first.code}: ${first.text.slice(-400)}`],
      ["nothing of it goes on", left.length === 0, left.join(" ")],
      [
        `the next start says the address within ${MOST_SECONDS} s of a machine at rest`,
        Math.min(...seconds) <= MOST_SECONDS * busy,
        `${seconds.join(" ")}, on a machine that is ${busy} times as slow`
      ],
      ["a check installs the tools and runs", checked.code === 0, checked.text.slice(-800)]
    ]
  }
}
