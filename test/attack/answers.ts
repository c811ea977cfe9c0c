// Answers: which messages were answered, by what the ledger says to a client.
// Owns waiting for them. What was lost or handled twice is in judge.ts.

import type { Client, Posted } from "./client.ts"
import { pause } from "./judge.ts"
import type { Server } from "./scene.ts"

interface Entry {
  readonly tickEnd?: { readonly envelope: string; readonly outcome: string }
}

/** Envelopes whose ticks have ended with an answer. */
const answered = async (client: Client, assistant: string): Promise<ReadonlyArray<string>> => {
  const { items } = (await client.json(`/v1/assistants/${assistant}/entries?from=1&limit=200`)) as {
    readonly items: ReadonlyArray<Entry & { readonly entry?: Entry }>
  }
  return items.flatMap((item) => {
    const { tickEnd } = item.entry ?? item
    return tickEnd?.outcome === "answered" ? [tickEnd.envelope] : []
  })
}

const unanswered = async (client: Client, posted: ReadonlyArray<Posted>): Promise<ReadonlyArray<Posted>> => {
  const names = [...new Set(posted.map((each) => each.assistant))]
  const ends = new Map(await Promise.all(names.map(async (name) => [name, await answered(client, name)] as const)))
  return posted.filter(({ assistant, id }) => !(ends.get(assistant) ?? []).includes(id))
}

/** Waits until all are answered. Returns those that are not, and how long it took. */
export const untilAnswered = async (client: Client, posted: ReadonlyArray<Posted>, withinMs: number) => {
  const begun = performance.now()
  let left = posted
  for (;;) {
    left = await unanswered(client, left)
    const waited = performance.now() - begun
    if (left.length === 0 || waited > withinMs) return { left, seconds: Math.round(waited / 100) / 10 }
    await pause(100)
  }
}

/** One message to each, all at once. Returns what was acknowledged. */
export const postTo = async (
  { client }: Server,
  prefix: string,
  assistants: ReadonlyArray<string>
): Promise<ReadonlyArray<Posted>> => {
  const wanted = assistants.map((assistant) => ({ assistant, id: `${prefix}-${assistant}` }))
  const taken = await Promise.all(wanted.map((each) => client.post(each, "hello")))
  return wanted.filter((_, at) => taken[at])
}
