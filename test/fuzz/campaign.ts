// Campaign: so many requests to a real server with two tenants.
// Owns the fleet that is asked, sending, and counting. Leaves requests to requests.ts and verdicts to judge.ts.
// C1  A campaign that did not reach every operation, or in which nothing succeeded, is a failure.
// C2  The same seed sends the same requests.

import { openServer } from "@reverie/server"
import { scriptedModel } from "@reverie/testkit"
import { type Fate, fateOf } from "@reverie/testkit/world"
import * as Effect from "effect/Effect"
import { defineAssistant, defineFleet, Fleet, memoryTools, selfTools } from "reverie"
import { type Answer, faultOf, type Knowledge, type Verdict } from "./judge.ts"
import { type OpenApiDocument, operationsOf, poolOf, requestFor, type Sent } from "./requests.ts"

export interface FuzzReport {
  readonly ok: boolean
  readonly seed: number
  readonly requests: number
  readonly operations: number
  /** Operations that were never answered well. */
  readonly neverWell: ReadonlyArray<string>
  readonly byStatus: Readonly<Record<string, number>>
  readonly faults: ReadonlyArray<Verdict>
}

const TENANTS = ["anna", "boris"] as const
const tokenOf = (tenant: string): string => `token-of-${tenant}-0123456789`
const secretOf = (tenant: string): string => `the-secret-words-of-${tenant}`
const idsOf = (tenant: string): ReadonlyArray<string> => [`${tenant}-desk`, `${tenant}-yard`]

/** How long a stream is listened to. */
const STREAM_MILLIS = 30
const AT_ONCE = 8

const furnish = async (fleet: Fleet, tenant: string): Promise<void> => {
  const [desk = "", yard = ""] = idsOf(tenant)
  await fleet.create(desk, "desk")
  await fleet.create(yard, "desk")
  await fleet.send(desk, secretOf(tenant), { id: "m-1" })
  await fleet.blocks.create({ owner: desk, label: "rules", type: "core", content: secretOf(tenant) })
  await fleet.send(yard, `dig ${secretOf(tenant)}`, { id: "m-2" })
}

/** Digs when it is asked to, and that takes a person. */
const model = scriptedModel(({ messages }) => {
  const last = messages.at(-1)
  return Effect.succeed(
    last?.role === "user" && last.content.includes("dig ")
      ? { calls: [{ tool: "dig", arguments: { what: last.content } }] }
      : { text: "Noted." }
  )
})

const openRig = async (): Promise<Fleet> => {
  const { defineTool } = await import("reverie")
  const dig = defineTool({ name: "dig", description: "Digs.", needsApproval: true, run: () => "dug" })
  return Fleet.open({
    data: ":memory:",
    model: model.model,
    fleet: defineFleet({
      assistants: [
        defineAssistant({
          id: "desk",
          instructions: "You are a desk.",
          tools: [...selfTools, ...memoryTools, dig],
          subAgents: {}
        })
      ]
    })
  })
}

/** The answer, or as much of a stream as comes in a moment. */
const ask = async (url: string, tenant: string, sent: Sent): Promise<Answer> => {
  const leaving = new AbortController()
  const response = await fetch(`${url}${sent.path}`, {
    method: sent.method,
    headers: { ...sent.headers, authorization: `Bearer ${tokenOf(tenant)}` },
    ...(sent.body === undefined ? {} : { body: sent.body }),
    redirect: "manual",
    signal: leaving.signal
  })
  const type = response.headers.get("content-type") ?? ""
  if (!type.startsWith("text/event-stream")) return { status: response.status, type, text: await response.text() }
  let text = ""
  const timer = setTimeout(() => leaving.abort(), STREAM_MILLIS)
  try {
    for await (const chunk of response.body ?? []) text += Buffer.from(chunk as Uint8Array).toString("utf8")
  } catch {
    // We have left.
  }
  clearTimeout(timer)
  return { status: response.status, type, text }
}

const other = (tenant: string): string => (tenant === TENANTS[0] ? TENANTS[1] : TENANTS[0])

/** One id of the other tenant is asked for, the other one is never named: so it must not come back either. */
const knowledge = (tenant: string): Knowledge => ({
  secrets: [secretOf(other(tenant))],
  foreignIds: idsOf(other(tenant)).slice(1),
  never: TENANTS.map(tokenOf)
})

interface Course {
  readonly fleet: Fleet
  readonly url: string
  readonly document: OpenApiDocument
  readonly requests: number
  readonly fate: Fate
}

/** What is asked for: those of one's own, the newest of them twice, one of the other tenant, and no one. */
const poolsOf = async (document: OpenApiDocument, fleet: Fleet, created: number) => {
  const pools = TENANTS.map(async (tenant) => {
    const [desk = "", yard = ""] = idsOf(tenant)
    const newest = created === 0 ? desk : `${desk}-${created}`
    const own = fleet.forTenant(tenant)
    const blocks = (await own.blocks.list()).map(({ id }) => id)
    const approvals = (await own.approvals.list()).map(({ approval }) => approval)
    const known = [desk, yard, newest, newest, ...blocks.slice(0, 2), ...approvals.slice(0, 2), "1", "2", "m-1", "desk"]
    return poolOf(document, [...known, ...idsOf(other(tenant)).slice(0, 1), "nobody"])
  })
  return Promise.all(pools)
}

/** Orders to retire are among the requests: someone must still be there to be asked. */
const CREATION_EVERY = 160

const createOne = async (fleet: Fleet, created: number): Promise<void> => {
  for (const tenant of TENANTS) {
    const [desk = ""] = idsOf(tenant)
    await fleet.forTenant(tenant).create(`${desk}-${created}`, "desk")
    await fleet.forTenant(tenant).send(`${desk}-${created}`, "dig here", { id: "m-1" })
  }
}

const run = async ({ document, fate, fleet, requests, url }: Course) => {
  const operations = operationsOf(document)
  let pools = await poolsOf(document, fleet, 0)
  const byStatus: Record<string, number> = {}
  const faults: Array<Verdict> = []
  const well = new Set<string>()
  const reached = new Set<string>()
  const one = async (index: number, sent: Sent): Promise<void> => {
    const tenant = TENANTS[index % TENANTS.length] ?? TENANTS[0]
    reached.add(sent.operation)
    try {
      const answer = await ask(url, tenant, sent)
      byStatus[answer.status] = (byStatus[answer.status] ?? 0) + 1
      if (answer.status < 300) well.add(sent.operation)
      const fault = faultOf(sent, answer, knowledge(tenant))
      if (fault !== undefined) faults.push({ sent, status: answer.status, fault })
    } catch (error) {
      faults.push({ sent, status: 0, fault: `no answer: ${String(error)}` })
    }
  }
  for (let from = 0; from < requests; from += AT_ONCE) {
    if (from % CREATION_EVERY === 0 && from > 0) {
      await createOne(fleet, from / CREATION_EVERY)
      pools = await poolsOf(document, fleet, from / CREATION_EVERY)
    }
    const batch = Array.from({ length: Math.min(AT_ONCE, requests - from) }, (_, index) => {
      const operation = operations[Math.floor((from + index) / TENANTS.length) % operations.length]
      const pool = pools[(from + index) % TENANTS.length]
      if (operation === undefined || pool === undefined) throw new Error("the document has no operations")
      return one(from + index, requestFor(operation, pool, fate))
    })
    await Promise.all(batch)
  }
  return { operations, reached, well, byStatus, faults }
}

export const fuzz = async (requests: number, seed: number): Promise<FuzzReport> => {
  await using fleet = await openRig()
  for (const tenant of TENANTS) await furnish(fleet.forTenant(tenant), tenant)
  await fleet.idle()
  const server = await openServer({
    fleet,
    role: "all",
    tokens: TENANTS.map((tenant) => ({ name: tenant, tenant, secret: tokenOf(tenant), readOnly: false }))
  })
  try {
    const headers = { authorization: `Bearer ${tokenOf(TENANTS[0])}` }
    const document = (await (await fetch(`${server.url}/openapi.json`, { headers })).json()) as OpenApiDocument
    const { byStatus, faults, operations, reached, well } = await run({
      fleet,
      url: server.url,
      document,
      requests,
      fate: fateOf(seed)
    })
    if (Reflect.get({}, "polluted") !== undefined) throw new Error("the prototype of every object was changed")
    const neverWell = operations.map(({ id }) => id).filter((id) => !well.has(id))
    const isWhole = operations.length > 0 && operations.every(({ id }) => reached.has(id)) && well.size > 0
    return {
      ok: isWhole && faults.length === 0,
      seed,
      requests,
      operations: operations.length,
      neverWell,
      byStatus,
      faults
    }
  } finally {
    await server.close()
  }
}
