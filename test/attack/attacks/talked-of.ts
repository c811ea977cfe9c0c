// One of whom much is said in a day: the night reads all of it, and what it writes down can be understood alone.

import type { Attack, Check, Finding } from "../attack.ts"
import { judge, pause } from "../judge.ts"
import { untilRest } from "../measures.ts"
import type { Scene, Server } from "../scene.ts"

const SAID = 105
const NIGHT_MILLIS = 30_000

const posting = (value: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(value)
})

interface Fact {
  readonly text: string
  readonly entities: ReadonlyArray<string>
  readonly profiled: boolean
  readonly links: ReadonlyArray<{ readonly why: string }>
}
interface Profile {
  readonly name: string
  readonly read?: number
}
interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly next?: string | null
}

/** All pages of a list. */
const all = async <A>({ client }: Server, path: string): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for (let cursor = ""; ;) {
    const page = (await client.json(`${path}?limit=50${cursor}`)) as Page<A>
    items.push(...page.items)
    if (typeof page.next !== "string" || page.items.length === 0) return items
    cursor = `&cursor=${encodeURIComponent(page.next)}`
  }
}

const talk = async (server: Server) => {
  const posted = Array.from({ length: SAID }, (_, index) => ({ assistant: "desk", id: `said-${index}` }))
  const acknowledged = []
  for (const [index, each] of posted.entries()) {
    const [text, from] =
      index % 3 === 0
        ? [`It was so special to me. I painted picture ${index} for Olga in Oslo.`, "Nora"]
        : [`I saw Nora paint picture ${index}. They liked it. [image: a photo of a picture]`, "Ivo"]
    const init = posting({ text, from })
    const headers = { ...(init.headers as Record<string, string>), "idempotency-key": each.id }
    const status = await server.client.status("/v1/assistants/desk/messages", { ...init, headers })
    if (status === 202) acknowledged.push(each)
  }
  await untilRest(server.client, NIGHT_MILLIS)
  return acknowledged
}

/** True when it sleeps, and its dream is over. */
const hasDreamt = async ({ client }: Server): Promise<boolean> =>
  JSON.stringify(await client.json("/v1/assistants/desk")).includes('"dreaming.resting"')

const dreamt = async (server: Server): Promise<boolean> => {
  await server.client.status("/v1/assistants/desk/orders", posting({ order: "sleep" }))
  for (const end = Date.now() + NIGHT_MILLIS; Date.now() < end; await pause(200)) {
    if (await hasDreamt(server)) return true
  }
  return false
}

const flawed = /^(?:it|they|he|she|their|his|her)\b|\?|\bshared\b/i

const judged = async (server: Server): Promise<ReadonlyArray<Check>> => {
  const facts = await all<Fact>(server, "/v1/assistants/desk/memory/facts")
  const profiles = await all<Profile>(server, "/v1/assistants/desk/memory/profiles")
  const naming = (name: string): number => facts.filter(({ entities }) => entities.includes(name)).length
  const unread = profiles.filter(({ name, read = 0 }) => read < naming(name))
  const flaws = facts.filter(({ text }) => flawed.test(text))
  const names = new Set(["Nora", "Ivo", "Olga", "Oslo"])
  const byName = facts.flatMap(({ links }) =>
    links.filter(({ why }) => why.split(", ").every((word) => names.has(word)))
  )
  return [
    { says: "Nora is spoken of in a hundred facts", ok: naming("Nora") >= 100, seen: `${naming("Nora")} facts` },
    {
      says: "each profile was made of every fact that names its one",
      ok: profiles.length > 0 && unread.length === 0,
      seen: profiles.map(({ name, read = 0 }) => `${name} ${read} of ${naming(name)}`).join(", ")
    },
    { says: "every fact was read by its profiles", ok: facts.every(({ profiled }) => profiled) },
    {
      says: "no fact begins with a pronoun, asks, or tells of a picture",
      ok: facts.length > 0 && flaws.length === 0,
      seen: flaws[0]?.text ?? `${facts.length} facts`
    },
    { says: "no name alone links two facts", ok: byName.length === 0, seen: byName[0]?.why ?? "none" }
  ]
}

const talkedOf: Attack = {
  name: "talked-of",
  item: 15,
  isShort: true,
  says: "much is said of one person in a day; after the night her profile was made of all of it",
  run: async (scene: Scene): Promise<Finding> => {
    const server = await scene.serve({ fleet: "small.ts", withModel: false })
    const posted = await talk(server)
    const hasEnded = await dreamt(server)
    const checks = [{ says: "the night has ended", ok: hasEnded }, ...(await judged(server))]
    const counts = await judge(server.client, posted)
    await server.stop()
    return { ...counts, checks }
  }
}

export const talked: ReadonlyArray<Attack> = [talkedOf]
