// Judge: what became of acknowledged messages, asked of a running server.
// J1  It waits until every acknowledged message is taken up or dead-lettered, or the time is over; what is missing is lost.

import type { Client, Posted } from "./client.ts"

export interface Judged {
  readonly acknowledged: number
  readonly lost: number
  readonly duplicated: number
  readonly innocents: number
  readonly recoverSeconds: number
  /** For the report: the first few that are lost, and why innocents were dead-lettered. */
  readonly remarks: ReadonlyArray<string>
}

export interface JudgeOptions {
  readonly withinMs?: number
  /** Messages that may be dead-lettered: those of the attacker. */
  readonly guilty?: ReadonlySet<string>
}

const POLL_MILLIS = 250

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

const look = async (client: Client, posted: ReadonlyArray<Posted>) => {
  const counts = new Map<string, number>()
  for (const assistant of new Set(posted.map((each) => each.assistant))) {
    for (const id of await client.taken(assistant)) {
      const key = `${assistant}/${id}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
    }
  }
  return { counts, dead: await client.deadLetters() }
}

export const judge = async (
  client: Client,
  posted: ReadonlyArray<Posted>,
  { guilty = new Set(), withinMs = 30_000 }: JudgeOptions = {}
): Promise<Judged> => {
  const begun = performance.now()
  for (;;) {
    const { counts, dead } = await look(client, posted)
    const deadKeys = new Set(dead.map(({ assistant, envelope }) => `${assistant}/${envelope}`))
    const missing = posted.filter(({ assistant, id }) => {
      const key = `${assistant}/${id}`
      return !counts.has(key) && !deadKeys.has(key)
    })
    const waited = performance.now() - begun
    if (missing.length > 0 && waited < withinMs) {
      await pause(POLL_MILLIS)
      continue
    }
    const innocents = dead.filter(({ envelope }) => !guilty.has(envelope))
    return {
      acknowledged: posted.length,
      lost: missing.length,
      duplicated: [...counts.values()].filter((count) => count > 1).length,
      innocents: innocents.length,
      recoverSeconds: Math.round(waited / 100) / 10,
      remarks: [
        ...missing.slice(0, 5).map(({ assistant, id }) => `lost: ${assistant}/${id}`),
        ...innocents
          .slice(0, 5)
          .map(({ assistant, envelope, reason }) => `dead-lettered: ${assistant}/${envelope}: ${reason}`)
      ]
    }
  }
}

export { pause }
