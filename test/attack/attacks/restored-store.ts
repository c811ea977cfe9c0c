// A store is restored to an earlier state while its index of memories stays as it was: nothing is remembered that was
// never said in this life, and what is said from then on is found.

import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { startQdrantServer } from "@reverie/testkit/qdrant-server"
import { postgresSays, startPostgres } from "@reverie/testkit/servers"
import type { Attack, Check } from "../attack.ts"
import type { Posted } from "../client.ts"
import { judge, pause } from "../judge.ts"
import type { Scene, Server, ServerOptions } from "../scene.ts"
import { lacking } from "../servers.ts"

/** A store and an index, and what an operator does to them while no server runs. */
interface Place {
  /** With its index, or while that is out of reach. */
  readonly start: (hasIndex: boolean) => Promise<Server>
  /** Keeps the store as it is. */
  readonly backUp: () => Promise<void>
  /** Puts the store back as it was kept, and leaves the index alone. */
  readonly restore: () => Promise<void>
  readonly close: () => Promise<void>
}

const FLEET: Pick<ServerOptions, "fleet"> = { fleet: "lifelong.ts" }
const isIndex = (name: string): boolean => name.startsWith("recall.db")

/** Files of a directory that no server has open. */
const filesOf = (directory: string): ReadonlyArray<string> =>
  existsSync(directory) ? readdirSync(directory).filter((name) => !name.endsWith(".sock")) : []

const ofStore = (name: string): boolean => !isIndex(name)

const moveFiles = (from: string, to: string, isMoved: (name: string) => boolean): void => {
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const name of filesOf(to).filter(isMoved)) rmSync(join(to, name))
  for (const name of filesOf(from).filter(isMoved)) renameSync(join(from, name), join(to, name))
}

const storeInFiles = (scene: Scene): Pick<Place, "backUp" | "restore"> => {
  const kept = join(scene.directory, "kept")
  return {
    backUp: async () => cpSync(scene.data, kept, { recursive: true, filter: (path) => !path.endsWith(".sock") }),
    restore: async () => {
      for (const name of filesOf(scene.data).filter(ofStore)) rmSync(join(scene.data, name))
      for (const name of filesOf(kept).filter(ofStore)) cpSync(join(kept, name), join(scene.data, name))
    }
  }
}

const inFiles = async (scene: Scene): Promise<Place> => {
  const discarded = join(scene.directory, "discarded")
  let isDiscarded = false
  return {
    ...storeInFiles(scene),
    start: (hasIndex) => {
      if (!hasIndex && !isDiscarded) moveFiles(scene.data, discarded, isIndex)
      if (hasIndex && isDiscarded) moveFiles(discarded, scene.data, isIndex)
      isDiscarded = !hasIndex
      return scene.serve(FLEET)
    },
    close: async () => {}
  }
}

const NOWHERE = "http://127.0.0.1:1"

const inQdrant = async (scene: Scene): Promise<Place> => {
  const qdrant = await startQdrantServer()
  return {
    ...storeInFiles(scene),
    start: (hasIndex) => scene.serve({ ...FLEET, env: { QDRANT_URL: hasIndex ? qdrant.url : NOWHERE } }),
    close: qdrant.close
  }
}

const inPostgres = async (scene: Scene): Promise<Place> => {
  const [postgres, qdrant] = await Promise.all([startPostgres({ own: true, fsync: false }), startQdrantServer()])
  const name = new URL(postgres.url).pathname.slice(1)
  const beside = new URL(postgres.url)
  beside.pathname = "/template1"
  const copy = async (from: string, to: string): Promise<void> => {
    await postgresSays(beside.href, `drop database if exists ${to} with (force)`)
    await postgresSays(beside.href, `create database ${to} template ${from}`)
  }
  return {
    start: (hasIndex) =>
      scene.serve({
        ...FLEET,
        data: null,
        env: { DATABASE_URL: postgres.url, QDRANT_URL: hasIndex ? qdrant.url : NOWHERE }
      }),
    backUp: () => copy(name, `${name}_kept`),
    restore: () => copy(`${name}_kept`, name),
    close: async () => {
      await Promise.all([postgres.stop(), qdrant.close()])
    }
  }
}

const ASSISTANT = "old"
const FOUND_MILLIS = 20_000

/** A word for each thing that is said, so that a question for it finds that thing alone. */
const wordOf = (life: string, at: number): string => `${life}${String.fromCharCode(97 + (at % 26))}${at}`

/** Says things that all share the name of the life, and waits until they are answered. */
const live = async ({ client }: Server, life: string, count: number) => {
  const posted: Array<Posted> = []
  for (let at = 0; at < count; at++) {
    const each = { assistant: ASSISTANT, id: `${life}-${at}` }
    if (await client.post(each, `The ${life} of the day is ${wordOf(life, at)}.`)) posted.push(each)
  }
  return judge(client, posted)
}

/** What an assistant remembers of words, as texts. */
const remembers = async ({ client }: Server, words: string): Promise<ReadonlyArray<string>> => {
  const path = `/v1/assistants/${ASSISTANT}/memory/recall?q=${encodeURIComponent(words)}&limit=20`
  const { items } = (await client.json(path)) as { readonly items: ReadonlyArray<{ readonly text?: string }> }
  return items.map((item) => JSON.stringify(item))
}

/** Whether what was said is found, each by a word of its own. */
const isFound = async (server: Server, life: string, count: number): Promise<Check> => {
  const wanted = [0, Math.floor(count / 2), count - 1].map((at) => wordOf(life, at))
  const until = performance.now() + FOUND_MILLIS
  for (;;) {
    const missing: Array<string> = []
    for (const word of wanted)
      if (!(await remembers(server, word)).some((text) => text.includes(word))) missing.push(word)
    if (missing.length === 0 || performance.now() > until) {
      return { says: `what was said of the ${life} is found`, ok: missing.length === 0, seen: missing.join(" ") }
    }
    await pause(200)
  }
}

/** Whether nothing is remembered of a life that never was, whatever is asked. */
const isUnknown = async (server: Server, life: string, count: number): Promise<Check> => {
  const seen = new Set<string>()
  const questions = [life, ...[0, Math.floor(count / 2), count - 1].map((at) => wordOf(life, at))]
  for (const question of questions) {
    for (const text of await remembers(server, `the ${question} of the day`)) if (text.includes(life)) seen.add(text)
  }
  const some = [...seen].slice(0, 2).join(" ").slice(0, 300)
  return {
    says: `nothing of the ${life} is remembered, which was never said in this life`,
    ok: seen.size === 0,
    seen: some
  }
}

const FIRST = 4
const LOST = 12
/** More than what was lost: then the ledger has an entry of every number that the index has. */
const LATER = 20

type Judged = Awaited<ReturnType<typeof judge>>

const sum = (judged: ReadonlyArray<Judged>, figure: "acknowledged" | "lost" | "duplicated" | "innocents"): number =>
  judged.reduce((total, each) => total + each[figure], 0)

/** The index is ahead of the store when the server starts. */
const ahead = async ({ restore, start }: Place): Promise<readonly [Judged, ReadonlyArray<Check>]> => {
  await restore()
  const server = await start(true)
  const checks = [await isUnknown(server, "heron", LOST)]
  const judged = await live(server, "walrus", LATER)
  checks.push(await isFound(server, "walrus", LATER), await isFound(server, "pilot", FIRST))
  checks.push(await isUnknown(server, "heron", LOST))
  await server.stop()
  return [judged, checks]
}

/** The index comes back when the store has lived on beyond it, another life. */
const overtaken = async (
  { restore, start }: Place,
  lost: string,
  count: number
): Promise<readonly [ReadonlyArray<Judged>, ReadonlyArray<Check>]> => {
  await restore()
  const alone = await start(false)
  const judged = [await live(alone, "ostrich", count + LATER)]
  await alone.stop()
  const server = await start(true)
  const checks = [await isUnknown(server, lost, count)]
  judged.push(await live(server, "lantern", FIRST))
  checks.push(await isFound(server, "lantern", FIRST), await isFound(server, "ostrich", count + LATER))
  checks.push(await isUnknown(server, lost, count))
  await server.stop()
  return [judged, checks]
}

const restored = async (place: Place, isShort: boolean) => {
  try {
    const first = await place.start(true)
    const judged = [await live(first, "pilot", FIRST)]
    await first.stop()
    await place.backUp()
    const second = await place.start(true)
    judged.push(await live(second, "heron", LOST))
    const checks = [await isFound(second, "heron", LOST)]
    await second.stop()
    if (!isShort) {
      const [lived, held] = await ahead(place)
      judged.push(lived)
      checks.push(...held)
    }
    // The index stands where the life before this one has ended.
    const [lived, held] = isShort ? await overtaken(place, "heron", LOST) : await overtaken(place, "walrus", LATER)
    judged.push(...lived)
    checks.push(...held)
    const counts = ["acknowledged", "lost", "duplicated", "innocents"] as const
    const figures = Object.fromEntries(counts.map((figure) => [figure, sum(judged, figure)]))
    return { ...(figures as Record<(typeof counts)[number], number>), checks }
  } finally {
    await place.close()
  }
}

export const restoredStore: ReadonlyArray<Attack> = [
  {
    name: "restored-store",
    item: 2,
    says: "an older reverie.db is put beside a newer recall.db, and an older recall.db beside a life that went on without it",
    isShort: true,
    run: async (scene, { isShort }) => restored(await inFiles(scene), isShort)
  },
  {
    name: "restored-store-qdrant",
    item: 2,
    says: "an older reverie.db is put beside a newer index in Qdrant",
    run: async (scene, { isShort }) => restored(await inQdrant(scene), isShort)
  },
  {
    name: "restored-store-postgres",
    item: 2,
    says: "PostgreSQL is restored to an earlier state beside a newer index in Qdrant",
    wants: lacking([], ["postgres"]),
    run: async (scene, { isShort }) => restored(await inPostgres(scene), isShort)
  }
]
