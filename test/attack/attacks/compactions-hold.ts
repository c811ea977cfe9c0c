// Someone takes a compaction back and speaks on, fills a window that nothing can bring down, and deletes what was put away:
// an undo holds, a trigger that can do nothing is not met with each message, and what is deleted is found no more.

import { untilAnswered } from "../answers.ts"
import type { Attack, Check, Finding } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge } from "../judge.ts"
import type { Scene, Server } from "../scene.ts"

const ANSWER_MILLIS = 15_000
/** About 200 tokens. */
const long = (at: number): string =>
  `Ship ${at} lies at pier ${at % 7}. ${"Her papers are in order and she waits. ".repeat(22)}`

interface Compactions {
  readonly items: ReadonlyArray<{ readonly id: string; readonly undone: boolean; readonly record: object }>
  readonly hold: { readonly compaction: string } | null
}

const madeBy = async ({ client }: Server, id: string): Promise<Compactions> =>
  (await client.json(`/v1/assistants/${id}/compactions?limit=50`)) as Compactions

const order = ({ client }: Server, path: string, method = "POST"): Promise<number> => client.status(path, { method })

class Speaker {
  readonly posted: Array<Posted> = []
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  async say(assistant: string, text: string): Promise<void> {
    const each = { assistant, id: `${assistant}-${this.posted.length}` }
    if (await this.#server.client.post(each, text)) this.posted.push(each)
    await untilAnswered(this.#server.client, [each], ANSWER_MILLIS)
  }

  /** Speaks on until it is so; how often. */
  async until(assistant: string, most: number, isSo: () => Promise<boolean>): Promise<number> {
    for (let said = 0; said < most; said++) {
      if (await isSo()) return said
      await this.say(assistant, long(said))
    }
    return most
  }
}

const undoing = async (server: Server, speaker: Speaker): Promise<ReadonlyArray<Check>> => {
  const countOf = async () => (await madeBy(server, "desk")).items.length
  await speaker.until("desk", 20, async () => (await countOf()) === 1)
  const id = (await madeBy(server, "desk")).items[0]?.id ?? "none"
  await order(server, `/v1/assistants/desk/compactions/${id}/undo`)
  await speaker.say("desk", "Hello")
  const held = await madeBy(server, "desk")
  const said = await speaker.until("desk", 20, async () => (await countOf()) === 2)
  const second = (await madeBy(server, "desk")).items.find((each) => each.id !== id)
  const why = JSON.stringify(second?.record ?? {})
  await order(server, `/v1/assistants/desk/compactions/${second?.id ?? "none"}/undo`)
  await speaker.say("desk", "Hello again")
  const released = await order(server, "/v1/assistants/desk/compactions/release")
  await speaker.say("desk", "And now?")
  const last = await madeBy(server, "desk")
  return [
    {
      says: "an undo outlasts the next message, and says so",
      ok: held.items.length === 1 && held.hold?.compaction === id
    },
    { says: "it holds until the window overflows", ok: said >= 4 && said < 20, seen: `${said} messages later` },
    { says: "the compaction that follows tells why", ok: why.includes("the window overflowed"), seen: why.slice(-300) },
    {
      says: "what a person releases is compacted again",
      ok: released === 200 && last.hold === null && last.items.length >= 3,
      seen: `${released}, ${last.items.length} compactions`
    }
  ]
}

/** How often a tick began with a compaction, whatever came of it. */
const triesOf = async ({ client }: Server): Promise<number> => {
  const { items } = (await client.json("/v1/assistants/clerk/entries?from=1&limit=200")) as {
    readonly items: ReadonlyArray<{ readonly status?: string; readonly entry?: { readonly status?: string } }>
  }
  return items.filter((each) => (each.status ?? each.entry?.status) === "compacting.extracting").length
}

const filling = async (server: Server, speaker: Speaker): Promise<ReadonlyArray<Check>> => {
  for (let at = 0; at < 16; at++) await speaker.say("clerk", long(at))
  const tries = await triesOf(server)
  return [
    {
      says: "a window that nothing can bring down is not tried each tick",
      ok: tries >= 1 && tries <= 5,
      seen: `${tries} tries`
    }
  ]
}

const deleting = async (server: Server, speaker: Speaker): Promise<ReadonlyArray<Check>> => {
  const { client } = server
  await speaker.say("desk", `!store_memory {"text":"The boathouse key hangs behind the barrel."}`)
  const found = async () => {
    const path = "/v1/assistants/desk/memory/recall?q=boathouse%20key&limit=5&kinds=passage"
    return ((await client.json(path)) as { readonly items: ReadonlyArray<{ readonly id: string }> }).items
  }
  const before = await found()
  const passage = before[0]?.id.replace(/^p\//, "") ?? "none"
  const deleted = await order(server, `/v1/assistants/desk/memory/passages/${passage}`, "DELETE")
  await speaker.say("desk", "Well?")
  const after = await found()
  return [
    {
      says: "a passage that was deleted is found no more",
      ok: before.length === 1 && deleted === 200 && after.length === 0,
      seen: `${before.length} before, ${deleted}, ${after.length} after`
    }
  ]
}

const holding = async (scene: Scene): Promise<Finding> => {
  const server = await scene.serve({ fleet: "holding.ts" })
  const speaker = new Speaker(server)
  const checks = [
    ...(await deleting(server, speaker)),
    ...(await undoing(server, speaker)),
    ...(await filling(server, speaker))
  ]
  const judged = await judge(server.client, speaker.posted)
  await server.stop()
  return { ...judged, checks }
}

export const compactionsHold: ReadonlyArray<Attack> = [
  {
    name: "compactions-hold",
    item: 14,
    says: "an undo holds, no trigger is met in vain each tick, and what is deleted is found no more",
    isShort: true,
    run: holding
  }
]
