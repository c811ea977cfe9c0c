// Usage: how long the sums of 30 days of a large fleet take, and how long anyone else waits meanwhile.
// Owns the questions of the page, and the comparison with another tree. Leaves the store and the server to usage-child.ts.
// U1  What others wait is measured from outside: the longest of the answers to /livez while the sums are read.
// U2  Two trees are asked in turns; each has a store of its own with the same crowd, filled through its ports.
// U3  Both say the same sums, or nothing is compared.

import { spawn } from "node:child_process"
import { once } from "node:events"
import { join, resolve } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { median } from "./fleet.ts"

const DAYS_WORKED = 5
const DAY_MILLIS = 86_400_000
const ROUNDS = 5
const PING_MILLIS = 2
const MAX_WAIT_MILLIS = 50

/** What the page Usage asks: 30 days, by each of its kinds. */
const kinds = ["assistant", "model", "purpose"] as const
type Kind = (typeof kinds)[number]

interface Figures {
  readonly readMillis: number
  /** The longest that anyone waited who asked for something else meanwhile. */
  readonly othersWaitMillis: number
}

interface Asked extends Figures {
  readonly tokens: number
}

const tell = (words: string): void => void process.stderr.write(`bench: ${words}\n`)

const served = async (tree: string, assistants: number) => {
  const args = [join(import.meta.dirname, "usage-child.ts"), tree, String(assistants), String(DAYS_WORKED)]
  const flags = ["--disable-warning=ExperimentalWarning"]
  const child = spawn(process.execPath, [...flags, ...args], { stdio: ["pipe", "pipe", "inherit"] })
  const [line] = (await once(child.stdout, "data")) as [Buffer]
  const { url } = JSON.parse(line.toString()) as { readonly url: string }
  return {
    url,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end()
      await once(child, "exit")
    }
  }
}

const pinging = async (url: string, isOver: () => boolean): Promise<number> => {
  let longest = 0
  while (!isOver()) {
    const begun = performance.now()
    await (await fetch(`${url}/livez`)).text()
    longest = Math.max(longest, performance.now() - begun)
    await sleep(PING_MILLIS)
  }
  return longest
}

const ask = async (url: string, by: Kind): Promise<Asked> => {
  const from = Date.now() - 30 * DAY_MILLIS
  let isOver = false
  const others = pinging(url, () => isOver)
  const begun = performance.now()
  const answer = await fetch(`${url}/v1/usage?by=${by}&from=${from}&order=greatest&step=day&limit=50`)
  const { total } = (await answer.json()) as { readonly total: { readonly tokens: number } }
  const readMillis = performance.now() - begun
  isOver = true
  return { readMillis, othersWaitMillis: await others, tokens: total.tokens }
}

const figuresOf = (all: ReadonlyArray<Asked>): Figures => ({
  readMillis: median(all.map(({ readMillis }) => readMillis)),
  othersWaitMillis: median(all.map(({ othersWaitMillis }) => othersWaitMillis))
})

const compared = async (urls: ReadonlyArray<string>, by: Kind): Promise<ReadonlyArray<Figures>> => {
  const all = urls.map((): Array<Asked> => [])
  // The first round warms the caches, as those of a server that has run for a while are.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, url] of urls.entries()) {
      const asked = await ask(url, by)
      if (round > 0) all[index]?.push(asked)
    }
  }
  const sums = new Set(all.flat().map(({ tokens }) => tokens))
  if (sums.size !== 1) throw new Error(`the sums of ${by} differ: ${[...sums].join(", ")}`)
  return all.map(figuresOf)
}

export const benchUsage = async (assistants: number, beside: string | undefined) => {
  await using here = await served(resolve(import.meta.dirname, "../.."), assistants)
  tell(`${assistants} assistants have worked on ${DAYS_WORKED} days`)
  await using there = beside === undefined ? undefined : await served(beside, assistants)
  const urls = there === undefined ? [here.url] : [here.url, there.url]
  const by: Record<string, { readonly here: Figures; readonly beside?: Figures }> = {}
  for (const kind of kinds) {
    const [ours = { readMillis: Infinity, othersWaitMillis: Infinity }, theirs] = await compared(urls, kind)
    by[kind] = theirs === undefined ? { here: ours } : { here: ours, beside: theirs }
  }
  const targets = Object.fromEntries(
    Object.entries(by).map(([kind, { here: ours }]) => [
      `30 days by ${kind}: no one else waits longer than ${MAX_WAIT_MILLIS} ms`,
      ours.othersWaitMillis <= MAX_WAIT_MILLIS
    ])
  )
  return { ok: Object.values(targets).every(Boolean), assistants, daysWorked: DAYS_WORKED, by, targets }
}
