// What is forgotten of a fleet on PostgreSQL is in no row of any table, compressed or not; and, once the tables are written anew, in no
// file of the server but its log.

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import type { Line } from "@reverie/testkit"
import { heldByPostgres, notedByPostgres, postgresSays, tablesOf } from "@reverie/testkit/servers"
import { sharePostgres } from "@reverie/testkit/shared-servers"
import * as Effect from "effect/Effect"
import { assert, it } from "vitest"
import { exportFleet } from "../src/index.ts"
import {
  ARCHIVED_EARLY,
  CANARY_MARK,
  liveWithCanaries,
  liveWithPeople,
  type Settling,
  wordsOf
} from "./forgetting-lives.ts"
import { openFleet } from "./rig.ts"

const postgres = sharePostgres({ fsync: false })

/** Random lives of a run. */
const LIVES = Number(process.env["REVERIE_FORGET_LIVES"] ?? 6)
const PATIENCE = 240_000 + LIVES * 4_000

/** All rows of all tables, as text and as the text that lies compressed in them. */
const everything = async (url: string): Promise<string> => {
  const segments = await postgresSays(
    url,
    ...(await tablesOf(url))
      .filter(({ name }) => name === "segments")
      .map(({ whole }) => `SELECT encode(body, 'base64') FROM ${whole} WHERE codec = 'zstd'`)
  )
  return [
    await heldByPostgres(url),
    ...segments.map(([bytes]) => zstdDecompressSync(Buffer.from(bytes ?? "", "base64")).toString())
  ].join("\n")
}

/** How much is shown on each side of what is found. */
const AROUND = 400

const around = (all: string, text: string): string => {
  const at = Math.max(all.indexOf(text), all.indexOf(Buffer.from(text).toString("hex")))
  return at < 0 ? "" : all.slice(Math.max(0, at - AROUND), at + AROUND)
}

/** Homes in one deployment, each a tenant: what is left of one is still there when the next one is looked through. */
const homesIn = async (name: string) => {
  const deployment = { database: postgres.server().url, name }
  let lines: Array<Line> = []
  const fleet = await openFleet({
    data: undefined as never,
    deployment,
    says: () => Effect.sync(() => lines.shift() ?? { text: "Aye." }),
    assistant: ARCHIVED_EARLY
  })
  let count = 0
  const settle: Settling = async (says) => {
    lines = [...says]
    const tenant = `home-${++count}`
    const home = fleet.forTenant(tenant)
    for (const id of ["desk", "clerk"]) await home.create(id)
    return {
      fleet: home,
      holds: async (text) => around(await everything(deployment.database), text),
      exported: async () => (await Array.fromAsync(exportFleet({ from: { deployment }, tenant }))).join("\n"),
      end: () => home.idle()
    }
  }
  return { settle, close: () => fleet.close() }
}

/** What is in a file; nothing where the server has taken it away since it was listed, as it does with its caches. */
const textOf = (path: string): string => {
  try {
    return readFileSync(path, "latin1")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return ""
    throw error
  }
}

/** Files of the cluster in which something is, with what stands around it, but for those of its log. */
const filesWith = async (pattern: RegExp): Promise<ReadonlyArray<string>> => {
  const [[data] = []] = await postgresSays(postgres.server().url, "CHECKPOINT", "SHOW data_directory")
  const paths = readdirSync(data ?? "", { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && !file.parentPath.endsWith("pg_wal"))
    .map((file) => join(file.parentPath, file.name))
  assert.isAbove(paths.length, 100, "the files of a cluster are not there")
  return paths.flatMap((path) => {
    const text = textOf(path)
    const at = text.search(pattern)
    return at < 0 ? [] : [`${path}: ${JSON.stringify(text.slice(Math.max(0, at - 200), at + 200))}`]
  })
}

/** Lives that share a deployment: each is looked for in all that those before it have left. */
const TOGETHER = 40

/** As many lives as are wanted, some in one deployment, and after each what is in the files of its server; then it is dropped. */
const lived = async (name: string, live: (settle: Settling, lives: number) => Promise<void>, left: RegExp) => {
  for (let begun = 0; begun < LIVES; begun += TOGETHER) {
    const { close, settle } = await homesIn(`${name}-${begun}`)
    await live(settle, Math.min(TOGETHER, LIVES - begun))
    await close()
    if (!postgres.server().isOwn) continue
    await written()
    assert.deepStrictEqual(await filesWith(left), [])
    const schemas = await postgresSays(
      postgres.server().url,
      "SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$|^public$'"
    )
    await postgresSays(postgres.server().url, ...schemas.map(([schema]) => `DROP SCHEMA "${schema}" CASCADE`))
  }
}

/** Writes all tables anew, and what the server knows of their texts for its plans. */
const written = () =>
  postgresSays(postgres.server().url, "VACUUM (FULL, ANALYZE)", "VACUUM FULL pg_catalog.pg_statistic")

postgres.describe("forgetting on PostgreSQL", () => {
  it("what the server notes for its plans has nothing of what was said", async () => {
    const { close, settle } = await homesIn("noted")
    try {
      const words = Array.from({ length: 12 }, (_, index) => `noted-word-${index}`)
      const { fleet } = await settle(words.map((word) => ({ text: `Aye, ${word}!` })))
      for (const word of words) await fleet.answer("desk", `Keep ${word}.`)
      const noted = await notedByPostgres(postgres.server().url)
      assert.include(noted, "noted,ledger,")
      assert.notInclude(noted, "noted-word")
    } finally {
      await close()
    }
  })

  it("random lives with canaries: none is left, and every life replays", { timeout: PATIENCE }, () =>
    lived("canaries", liveWithCanaries, new RegExp(CANARY_MARK))
  )

  it("random lives: of who is forgotten no word is left, and every life replays", { timeout: PATIENCE }, () =>
    lived("people", liveWithPeople, wordsOf("ann"))
  )
})
