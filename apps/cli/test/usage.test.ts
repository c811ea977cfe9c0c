// One ledger of usage: all who tell of cost tell the same, to the token, and what the models say that they were asked for.

import { type ModelRequest, type ScriptedReply, startModelServer } from "@reverie/testkit/model-server"
import { sharePostgres, shareRedis } from "@reverie/testkit/shared-servers"
import { afterEach, assert, test } from "vitest"
import { begin, fixture, run, type Running, temporary } from "./command-line.ts"

const NOTHING = { calls: 0, input: 0, cached: 0, output: 0, reasoning: 0, costMicros: 0, unpricedCalls: 0 }
type Sum = typeof NOTHING

const add = (one: Sum, other: Sum): Sum =>
  Object.fromEntries(Object.entries(one).map(([key, value]) => [key, value + other[key as keyof Sum]])) as Sum

/** Millionths for a million tokens: input, input out of a cache, output. */
const prices: Readonly<Record<string, readonly [number, number, number]>> = {
  "gpt-5-mini-2025-08-07": [250_000, 25_000, 2_000_000],
  "gpt-4.1-mini": [400_000, 100_000, 1_600_000],
  "claude-haiku-4-5": [1_000_000, 100_000, 5_000_000]
}

const chargeOf = (model: string, { cached, input, output }: Sum): Sum => {
  const price = prices[model]
  if (price === undefined) return { ...NOTHING, unpricedCalls: 1 }
  const [full, less, out] = price
  return { ...NOTHING, costMicros: Math.ceil(((input - cached) * full + cached * less + output * out) / 1_000_000) }
}

/** A server of models that keeps its own books. */
const openModels = async () => {
  const byModel = new Map<string, Sum>()
  let isHeld = false
  let heard = Promise.withResolvers<void>()
  const script = ({ messages, model, path }: ModelRequest): ScriptedReply => {
    const words = JSON.stringify(messages)
    if (isHeld && words.includes("HOLD")) {
      heard.resolve()
      return { text: "Too late.", afterMillis: 3_600_000 }
    }
    assert.strictEqual(path, "/v1/chat/completions")
    const before = byModel.get(model) ?? NOTHING
    const n = before.calls + 1
    const used = { ...NOTHING, calls: 1, input: 1_000 + 7 * n, cached: 600 + n, output: 40 + n, reasoning: 3 + n }
    byModel.set(model, add(before, add(used, chargeOf(model, used))))
    return {
      text: words.includes("Task: ") ? "[]" : `The berth number ${n} is free from noon on.`,
      usage: {
        prompt_tokens: used.input,
        completion_tokens: used.output,
        prompt_tokens_details: { cached_tokens: used.cached },
        completion_tokens_details: { reasoning_tokens: used.reasoning }
      }
    }
  }
  const server = await startModelServer({ script })
  return {
    server,
    byModel,
    /** From now on a message with HOLD is not answered; resolves when one was heard. */
    hold: () => {
      isHeld = true
      heard = Promise.withResolvers<void>()
      return heard.promise
    },
    letGo: () => {
      isHeld = false
    },
    total: () => [...byModel.values()].reduce(add, NOTHING)
  }
}

const started: Array<Running> = []
afterEach(() => {
  for (const { child } of started.splice(0)) child.kill("SIGKILL")
})

/** Where a fleet keeps what it has. */
interface Store {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string>>
}

const serving = async (store: Store, modelUrl: string) => {
  const args = ["serve", "--fleet", fixture("usage-fleet.ts"), ...store.args, "--port", "0"]
  const running = begin(args, { env: { ...store.env, MODEL_URL: modelUrl } })
  started.push(running)
  await running.saying("Ctrl-C ends it")
  return { running, url: /http:\/\/\S+/.exec(running.said())?.[0] ?? "none" }
}

type Json = any // eslint-disable-line

const asked = async (url: string): Promise<Json> => (await fetch(url)).json()

const post = async (url: string, body: object) => {
  const headers = { "content-type": "application/json" }
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  assert.isBelow(answer.status, 300, await answer.clone().text())
}

const sumOf = (row: Json): Sum => ({
  calls: row.calls,
  input: row.inputTokens,
  cached: row.cachedTokens,
  output: row.outputTokens,
  reasoning: row.reasoningTokens,
  costMicros: row.costMicros,
  unpricedCalls: row.unpricedCalls
})

/** Waits until no one has anything to do and every answer is in the books. */
const settled = async (url: string, calls: () => number): Promise<void> => {
  while (true) {
    const { items } = await asked(`${url}/v1/assistants`)
    const isResting = ({ state, waiting }: Json) =>
      waiting === 0 && ["awake.idle", "dreaming.resting", "retired"].includes(state)
    const { total } = await asked(`${url}/v1/usage?from=0`)
    if (items.every(isResting) && total.calls === calls()) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const metric = (text: string, name: string): number =>
  [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, "gm"))].reduce((sum, [, value]) => sum + Number(value), 0)

/** A line of `/cost`: calls, tokens, and the money where there is any. */
const COST = /(\d+) model calls?, (\d+) tokens(?: \(\d+ of them cached\))?, (?:cost (\d[^\n]*)|unpriced)/g

/** The same of a row of sums. */
const moneyOf = ({ calls, costMicros, unpricedCalls }: Sum): string => {
  const money = (costMicros / 1_000_000).toFixed(4)
  const beside = unpricedCalls === 0 ? "" : ` and ${unpricedCalls} unpriced call${unpricedCalls === 1 ? "" : "s"}`
  return `${calls} calls: ${unpricedCalls >= calls && calls > 0 ? "unpriced" : money + beside}`
}

/** The accounts of an assistant and of all below it: what each has spent, and by whom. */
const accountsIn = ({
  id,
  spent,
  subAgents
}: Json): ReadonlyArray<{ id: string; spent: Json; whole: Array<string> }> => {
  const below = subAgents.map(accountsIn)
  return [{ id, spent, whole: [id, ...below.flatMap(([first]: Json) => first.whole)] }, ...below.flat()]
}

/** What the page Usage draws: for each way to divide it, the sums of all points of its rows, and of all of them together. */
const courses = async (url: string) => {
  const sumOfPoints = (points: Json) =>
    ["calls", "tokens", "costMicros", "unpricedCalls"].map((name) =>
      points.reduce((sum: number, point: Json) => sum + point[name], 0)
    )
  return Promise.all(
    ["assistant", "model", "purpose"].flatMap((by) =>
      ["hour", "day"].map(async (step) => {
        const { items, series } = await asked(
          `${url}/v1/usage?by=${by}&step=${step}&order=greatest&from=${Date.now() - 720 * 3_600_000}`
        )
        const rows = sumOfPoints(items.flatMap(({ points }: Json) => points))
        return [rows, sumOfPoints(series.points)]
      })
    )
  )
}

/** What each place tells, in sums of the same form. */
const told = async (url: string) => {
  const api = await asked(`${url}/v1/usage?from=0&by=assistant`)
  const [cli, top, ...chats] = await Promise.all([
    run(["usage", "--since", "1970-01-01", "--json", "--url", url]),
    run(["top", "--once", "--json", "--url", url]),
    ...["desk", "clerk"].map((id) => run(["chat", id, "--url", url], { input: "/cost\n/quit\n" }))
  ])
  const costs = chats.map(({ stdout }) => stdout)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  const board = await asked(`${url}/v1/assistants`)
  const of = (name: string) => metric(metrics, `reverie_usage_${name}_total`)
  const day = board.items.map((item: Json) => item.day)
  const dayOf = (key: string) => day.reduce((sum: number, each: Json) => sum + each[key], 0)
  const said = [...costs.join("\n").matchAll(COST)]
  return {
    api: sumOf(api.total),
    rows: Object.fromEntries(api.items.map((item: Json) => [item.key, sumOf(item)])),
    cli: sumOf(JSON.parse(cli.stdout).total),
    top: sumOf(JSON.parse(top.stdout).usage),
    cliRows: Object.fromEntries(JSON.parse(cli.stdout).usage.map((item: Json) => [item.key, sumOf(item)])),
    metrics: {
      calls: of("calls"),
      input: of("input_tokens"),
      cached: of("cached_tokens"),
      output: of("output_tokens"),
      reasoning: of("reasoning_tokens"),
      costMicros: of("cost_micros"),
      unpricedCalls: of("unpriced_calls")
    },
    board: [dayOf("calls"), dayOf("tokens"), dayOf("costMicros"), dayOf("unpricedCalls")],
    chat: [
      said.reduce((sum, [, calls]) => sum + Number(calls), 0),
      said.reduce((sum, [, , tokens]) => sum + Number(tokens), 0)
    ],
    money: said.map(([, calls, , money = "unpriced"]) => `${calls} calls: ${money}`).toSorted(),
    courses: await courses(url),
    accounts: accountsIn(await asked(`${url}/v1/assistants/desk/subagents`)),
    costs
  }
}

const same = async (url: string, books: Sum) => {
  const places = await told(url)
  const { costMicros, calls, input, output, unpricedCalls } = books
  assert.deepStrictEqual(places.api, books, "API")
  assert.deepStrictEqual(places.cli, books, "command line")
  assert.deepStrictEqual(places.top, books, "top")
  assert.deepStrictEqual(places.cliRows, places.rows)
  assert.deepStrictEqual(places.metrics, books, "metrics")
  assert.deepStrictEqual(places.board, [calls, input + output, costMicros, unpricedCalls], "list of the page")
  assert.deepStrictEqual(places.chat, [calls, input + output], `chat: ${places.costs.join("\n")}`)
  const whole = [calls, input + output, costMicros, unpricedCalls]
  for (const each of places.courses) assert.deepStrictEqual(each, [whole, whole], "bars of the page")
  assert.deepStrictEqual(places.money, Object.values(places.rows).map(moneyOf).toSorted(), "money in the chat")
  for (const { id, spent, whole } of places.accounts) {
    const used = whole.map((each: string) => places.rows[each] ?? NOTHING).reduce(add, NOTHING)
    assert.deepStrictEqual(
      [spent.calls, spent.tokens, spent.costMicros],
      [used.calls, used.input + used.output, used.costMicros],
      `account of ${id}`
    )
  }
  assert.isAtLeast(places.accounts.length, 2)
  return places
}

const LONG = "The Aurora is late, and the pilot has to be told before the tide turns. ".repeat(40)

// It starts fifteen processes, one after the other where it must.
const WAIT = { timeout: 300_000 }

const lifeIn = async (store: Store): Promise<void> => {
  const models = await openModels()
  try {
    const first = await serving(store, models.server.url)
    const desk = `${first.url}/v1/assistants/desk`
    for (let n = 0; n < 4; n++) await post(`${desk}/messages`, { text: `${n}: ${LONG}` })
    await post(`${first.url}/v1/assistants/clerk/messages`, { text: "Which berth is free?" })
    await post(`${desk}/sub-agents`, { task: "Count the ships." })
    await settled(first.url, () => models.total().calls)
    await post(`${desk}/orders`, { order: "compact" })
    await settled(first.url, () => models.total().calls)
    await post(`${desk}/orders`, { order: "sleep", forMs: 3_600_000 })
    await settled(first.url, () => models.total().calls)

    const purposes = (await asked(`${first.url}/v1/usage?from=0&by=purpose`)).items.map(({ key }: Json) => key)
    assert.includeMembers(purposes, ["answer", "compact", "dream"])
    const byModel = (await asked(`${first.url}/v1/usage?from=0&by=model`)).items
    assert.deepStrictEqual(
      Object.fromEntries(byModel.map((item: Json) => [item.key, sumOf(item)])),
      Object.fromEntries(models.byModel)
    )
    assert.sameMembers([...models.byModel.keys()], [...Object.keys(prices), "qwen3:8b"])
    const before = await same(first.url, models.total())
    assert.match(before.costs[1] ?? "", /1 model call, \d+ tokens \(\d+ of them cached\), unpriced/)

    first.running.child.kill("SIGTERM")
    await first.running.ended
    const second = await serving(store, models.server.url)
    assert.deepStrictEqual(await same(second.url, models.total()), before)

    const heard = models.hold()
    await post(`${second.url}/v1/assistants/clerk/messages`, { text: "HOLD on." })
    await heard
    second.running.child.kill("SIGKILL")
    await second.running.ended
    models.letGo()
    const third = await serving(store, models.server.url)
    await settled(third.url, () => before.api.calls + 1)
    const after = await same(third.url, models.total())
    assert.strictEqual(after.api.calls, before.api.calls + 1)
  } finally {
    await models.server.close()
  }
}

test(
  "U1 five places and the accounts tell the same after work, a restart and a kill, and what the models say",
  WAIT,
  async () => {
    await using directory = await temporary()
    await lifeIn({ args: ["--data", directory.path], env: {} })
  }
)

const [postgres, redis] = [sharePostgres({ fsync: false }), shareRedis()]

postgres.describe("in PostgreSQL", () => {
  redis.describe("with wake-ups", () => {
    test("U1 the same", WAIT, () =>
      lifeIn({ args: [], env: { DATABASE_URL: postgres.server().url, REDIS_URL: redis.server().url } })
    )
  })
})
