// Someone fills a journal, kills the server, sends the assistant to sleep, and goes on writing: no entry is ever lost.

import type { Attack, Finding } from "../attack.ts"
import type { Client, Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import type { Scene } from "../scene.ts"

const WAIT_MILLIS = 30_000
/** More than are at hand. */
const BEFORE = 104
const AFTER = 8
/** Of one message. */
const NOTES = 8

interface Page {
  readonly items: ReadonlyArray<{ readonly value: { readonly content?: string } }>
  readonly next: string | null
}

/** What the journal holds, page by page. */
const written = async (client: Client): Promise<ReadonlyArray<string>> => {
  const contents: Array<string> = []
  for (let cursor: string | null = ""; cursor !== null;) {
    const after: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`
    const page = (await client.json(`/v1/assistants/desk/memory/journal?limit=50${after}`)) as Page
    contents.push(...page.items.flatMap(({ value }) => value.content ?? []))
    cursor = page.next
  }
  return contents
}

const until = async (isSo: () => Promise<boolean>): Promise<boolean> => {
  for (const begun = performance.now(); performance.now() - begun < WAIT_MILLIS; await pause(100)) {
    if (await isSo().catch(() => false)) return true
  }
  return false
}

const order = (client: Client, name: string): Promise<number> =>
  client.status("/v1/assistants/desk/orders", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ order: name })
  })

const content = (at: number): string => `Barge ${at} came in with the tide.`

/** Notes barges, some in a message, and waits until the journal has this many entries at least. */
const noting = async (client: Client, from: number, to: number): Promise<ReadonlyArray<Posted>> => {
  const posted: Array<Posted> = []
  for (let first = from; first < to; first += NOTES) {
    const count = Math.min(NOTES, to - first)
    const lines = Array.from({ length: count }, (_, at) => `/add_journal_entry {"content":"${content(first + at)}"}`)
    const each = { assistant: "desk", id: `barges-${first}` }
    if (await client.post(each, lines.join("\n"))) posted.push(each)
  }
  await until(async () => (await written(client)).length >= to)
  return posted
}

const dreamt = async (client: Client): Promise<boolean> => {
  const state = (await client.json("/v1/assistants/desk")) as object
  return JSON.stringify(state).includes("dreaming.resting")
}

const filling = async (scene: Scene): Promise<Finding> => {
  const first = await scene.serve({ fleet: "diary.ts", withModel: false })
  const before = await noting(first.client, 0, BEFORE)
  await first.kill()
  const server = await scene.serve({ fleet: "diary.ts", withModel: false })
  const { client } = server
  const unread = new Set(await written(client))
  await order(client, "sleep")
  const slept = await until(() => dreamt(client))
  await order(client, "wake")
  const after = await noting(client, BEFORE, BEFORE + AFTER)
  const all = new Set(await written(client))
  const missing = Array.from({ length: BEFORE + AFTER }, (_, at) => content(at)).filter((text) => !all.has(text))
  const judged = await judge(client, [...before, ...after])
  await server.stop()
  const checks = [
    {
      says: "what no dream has read stays, also after kill -9",
      ok: unread.size >= BEFORE,
      seen: `${unread.size} of ${BEFORE}`
    },
    { says: "a night came to its end", ok: slept },
    { says: "every entry is listed for good", ok: missing.length === 0, seen: `${missing.length} are missing` }
  ]
  return { ...judged, checks }
}

export const diary: ReadonlyArray<Attack> = [
  {
    name: "journal-filled",
    item: 15,
    says: "a journal of more than a hundred entries loses none, through kill -9 and a night",
    isShort: true,
    run: filling
  }
]
