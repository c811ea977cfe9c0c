// OutageViews: what is said of a model that is away, by HTTP, the command line and the metrics.
// V1  Wherever a person looks, the server is named: host and port.

import type { Check } from "./attack.ts"
import type { Client } from "./client.ts"
import { pause } from "./judge.ts"
import type { Scene, Server } from "./scene.ts"

export interface Row {
  readonly id: string
  readonly state: string
  readonly haltReason?: string
  readonly outage?: {
    readonly server: string
    readonly reason: string
    readonly since: number
    readonly nextTry?: number
  }
}

interface Page {
  readonly items: ReadonlyArray<Row>
  readonly outages?: ReadonlyArray<{ readonly server: string; readonly assistants: number }>
}

const pageOf = async (client: Client) => (await client.json("/v1/assistants?limit=200")) as Page

const rowsOf = async (client: Client): Promise<ReadonlyArray<Row>> => (await pageOf(client)).items

/** Looks until it is as it should be, or the time is over. */
export const rowsUntil = async (client: Client, withinMs: number, isSo: (rows: ReadonlyArray<Row>) => boolean) => {
  const begun = performance.now()
  for (;;) {
    const rows = await rowsOf(client)
    if (isSo(rows) || performance.now() - begun > withinMs) return rows
    await pause(100)
  }
}

const NAMED_MILLIS = 5_000

const byCommands = async (scene: Scene, server: Server, host: string, id: string): Promise<ReadonlyArray<Check>> => {
  const commands: ReadonlyArray<ReadonlyArray<string>> = [
    ["agents", "ls"],
    ["agents", "inspect", id],
    ["top", "--once"]
  ]
  const said = await Promise.all(commands.map((command) => scene.cli([...command, "--url", server.url])))
  return said.map(({ stderr, stdout }, at) => ({
    says: `reverie ${commands[at]?.join(" ")} names the server`,
    ok: stdout.includes(host),
    seen: `${stdout.slice(0, 300)}${stderr}`
  }))
}

const byFigures = async ({ client }: Server, host: string): Promise<ReadonlyArray<Check>> => {
  const { outages = [] } = await pageOf(client)
  const { checks } = (await client.json("/v1/system")) as {
    readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean; readonly says: string }>
  }
  const model = checks.find(({ name }) => name === "model")
  return [
    {
      says: "the list of assistants counts those that wait for the server",
      ok: outages.some(({ assistants, server }) => server === host && assistants > 0),
      seen: JSON.stringify(outages)
    },
    {
      says: "the checks of the system say that the server does not answer",
      ok: model?.ok === false && model.says.includes(host),
      seen: JSON.stringify(model)
    }
  ]
}

/** The workers know it: of several processes, one that works. */
export const saidByMetrics = async (server: Server, host: string): Promise<Check> => {
  const metrics = await (await server.client.fetch("/metrics")).text()
  return {
    says: "a metric says that the server is not up",
    ok: metrics.includes(`reverie_model_up{server="${host}"} 0`),
    seen: metrics.split("\n").find((line) => line.startsWith("reverie_model_up")) ?? "no such metric"
  }
}

export interface Look {
  readonly scene: Scene
  readonly server: Server
  /** Host and port of the model server. */
  readonly host: string
  /** Without the commands, which take their time to start. */
  readonly isBrief: boolean
}

/** To be looked at while the model server is away and all assistants wait for it. */
export const saidAway = async ({ host, isBrief, scene, server }: Look): Promise<ReadonlyArray<Check>> => {
  const isNamed = ({ outage }: Row): boolean => outage?.server === host
  const rows = await rowsUntil(server.client, NAMED_MILLIS, (all) => all.every(isNamed))
  const halted = rows.filter(({ state }) => state === "halted")
  const named = rows.filter(isNamed)
  const planned = named.find(({ outage }) => outage?.nextTry !== undefined)
  const { nextTry = 0, reason = "", since = 0 } = planned?.outage ?? {}
  return [
    { says: "no assistant is halted while the model is away", ok: halted.length === 0, seen: `${halted.length} are` },
    {
      says: "the API names the server for every assistant, all of which wait for it",
      ok: named.length === rows.length && named.length > 0,
      seen: `${named.length} of ${rows.length}`
    },
    {
      says: "with a reason, since when, and when it is tried next",
      ok: reason !== "" && since > 0 && nextTry > since,
      seen: JSON.stringify(planned?.outage)
    },
    ...(await byFigures(server, host)),
    ...(isBrief ? [] : await byCommands(scene, server, host, planned?.id ?? ""))
  ]
}
