// Agents: the part of the tree about assistants: readings, and orders to one.

import { defined } from "@reverie/protocol"
import { type Command, Option } from "commander"
import type { LimitsOptions, Wanted } from "../commands/agents/limits.ts"
import type { Order, OrderOptions } from "../commands/agents/orders.ts"
import { branch, does, leaf, type Trunk } from "./leaf.ts"
import { addMovingOf } from "./moving.ts"
import {
  atLeastOne,
  attachOption,
  contextOption,
  fleetOption,
  moment,
  mostMoney,
  mostWhole,
  seconds,
  usageGroups,
  whole
} from "./options.ts"

interface SendOptions extends OrderOptions {
  readonly attach?: ReadonlyArray<string>
  readonly context?: string
}

const addReadings = (agents: Command, trunk: Trunk): void => {
  const ls = leaf(agents, "ls", { kind: "list", says: "list the assistants", example: "agents ls --watch" })
    .option("--definition <name>", "those of this definition only")
    .option("--tag <tag>", "those whose definition has this tag; at a server, or with --fleet")
    .addOption(fleetOption())
  does(ls, trunk, async (options) => (await import("../commands/agents/agents.ts")).list(options, trunk.stop))
  const inspect = leaf(agents, "inspect <id>", {
    kind: "look",
    says: "show the state and the latest history of one",
    example: "agents inspect desk"
  })
  does(inspect, trunk, async (options, id) =>
    (await import("../commands/agents/agents.ts")).inspect(id, options, trunk.stop)
  )
  const logs = leaf(agents, "logs <id>", {
    kind: "list",
    says: "show the ledger of one, the newest entries last",
    example: "agents logs desk --watch"
  })
  does(logs, trunk, async (options, id) => (await import("../commands/agents/agents.ts")).logs(id, options, trunk.stop))
  const tree = leaf(agents, "tree <id>", {
    kind: "look",
    says: "show one, its sub-agents and their budgets",
    example: "agents tree desk"
  })
  does(tree, trunk, async (options, id) => (await import("../commands/agents/agents.ts")).tree(id, options, trunk.stop))
  const context = leaf(agents, "context <id>", {
    kind: "look",
    says: "show what the model of one was shown, and what differs from another run",
    example: "agents context desk --tick 3 --diff 2"
  })
    .addOption(new Option("--tick <n>", "the number of the run; the newest one when not said").argParser(whole))
    .addOption(new Option("--iteration <n>", "the model call of the run; the last one when not said").argParser(whole))
    .addOption(new Option("--diff <n>", "compare with the last model call of this run").argParser(whole))
  does(context, trunk, async (options, id) =>
    (await import("../commands/agents/replay.ts")).context(id, options, trunk.stop)
  )
}

const addKinds = (agents: Command, trunk: Trunk): void => {
  const kinds = leaf(agents, "contexts <id>", {
    kind: "look",
    says: "show the kinds of context of one: their limits, tools and overrides",
    example: "agents contexts desk --fleet fleet.ts"
  }).addOption(fleetOption())
  does(kinds, trunk, async (options, id) =>
    (await import("../commands/agents/agents.ts")).kinds(id, options, trunk.stop)
  )
}

const addCache = (agents: Command, trunk: Trunk): void => {
  const cache = leaf(agents, "cache <id>", {
    kind: "list",
    says: "show how much of each prompt repeats the one before it, and which part ended that",
    example: "agents cache desk --limit 100"
  })
  does(cache, trunk, async (options, id) =>
    (await import("../commands/agents/replay.ts")).cache(id, options, trunk.stop)
  )
}

const tells = (command: Command, trunk: Trunk, orderOf: (value: string | undefined, options: never) => Order) =>
  does(command, trunk, async (options, id, value) => {
    const { command: give } = await import("../commands/agents/orders.ts")
    return give(id, orderOf(value, options), options, trunk.stop)
  })

interface Reasoned {
  readonly reason?: string
}

const addSimple = (agents: Command, trunk: Trunk): void => {
  const because = (value: string | undefined) => (value === undefined ? {} : { reason: value })
  const halts = (value: string | undefined): Order => ({
    type: "order",
    order: "halt",
    reason: value ?? "halted by order"
  })
  const order = (usage: string, says: string, example: string) =>
    leaf(agents, usage, { kind: "order", says, example: `agents ${example}` })
  tells(order("halt <id> [reason]", "stop one in an emergency", 'halt desk "wrong prices"'), trunk, halts)
  tells(order("pause <id> [reason]", "the same as halt", "pause desk"), trunk, halts)
  tells(order("resume <id>", "let a halted one go on", "resume desk"), trunk, () => ({
    type: "order",
    order: "resume"
  }))
  tells(order("wake <id> [reason]", "wake one that dreams", "wake desk"), trunk, (value) => ({
    type: "order",
    order: "wake",
    ...because(value)
  }))
  const sleep = order("sleep <id>", "start dreaming", "sleep desk --for 600").addOption(
    new Option("--for <seconds>", "at most so long; as its settings say when not said").argParser(seconds)
  )
  tells(sleep, trunk, (_, options: { readonly for?: number }) => ({
    type: "order",
    order: "sleep",
    ...defined({ forMs: options.for === undefined ? undefined : Math.max(1, Math.round(options.for * 1_000)) })
  }))
  const stop = order("stop <id> [reason]", "end the run in progress; the next message is heard", "stop desk").addOption(
    new Option("--tick <n>", "only this one; the one in progress when not said").argParser(atLeastOne)
  )
  tells(stop, trunk, (value, options: { readonly tick?: number }) => ({
    type: "order",
    order: "stop",
    ...because(value),
    ...defined({ tick: options.tick })
  }))
  const rm = order("rm <id>", "retire one for good, with all its sub-agents", "rm desk --yes").option(
    "--reason <text>",
    "why"
  )
  tells(rm, trunk, (_, options: Reasoned) => ({ type: "order", order: "retire", ...because(options.reason) }))
}

interface BudgetOptions extends OrderOptions {
  readonly tokens?: number | "none"
  readonly cost?: number | "none"
  readonly calls?: number | "none"
}

const addBudget = (agents: Command, trunk: Trunk): void => {
  const budget = leaf(agents, "budget <id>", {
    kind: "order",
    says: "show what one may spend on model calls in all, or bound it",
    example: "agents budget desk --tokens 500000 --cost 2.50"
  })
    .addOption(
      new Option("--tokens <n>", "most tokens of prompts and replies; none bounds nothing").argParser(mostWhole)
    )
    .addOption(new Option("--cost <amount>", "most money; none bounds nothing").argParser(mostMoney))
    .addOption(new Option("--calls <n>", "most model calls; none bounds nothing").argParser(mostWhole))
  does(budget, trunk, async (options: BudgetOptions, id) => {
    const most = (value: number | "none" | undefined) => (value === "none" ? null : value)
    const { calls, cost, tokens } = options
    const said = defined({ tokens: most(tokens), calls: most(calls), costMicros: most(cost) })
    if (Object.keys(said).length === 0)
      return (await import("../commands/agents/agents.ts")).budget(id, options, trunk.stop)
    return (await import("../commands/agents/orders.ts")).command(id, { type: "budget", ...said }, options, trunk.stop)
  })
}

type Most = number | "none"
type LimitOptions = LimitsOptions & { readonly [flag: string]: Most | undefined }

/** The flag of each limit, as commander reads it, and what it bounds. */
const limitFlags = [
  ["calls-per-minute", "callsPerMinute", "callsPerMinute", "model calls in a minute"],
  ["calls-per-day", "callsPerDay", "callsPerDay", "model calls in a day of UTC"],
  ["tokens-per-minute", "tokensPerMinute", "tokensPerMinute", "tokens in a minute"],
  ["tokens-per-day", "tokensPerDay", "tokensPerDay", "tokens in a day of UTC"],
  ["cost-per-minute", "costPerMinute", "costMicrosPerMinute", "money in a minute"],
  ["cost-per-day", "costPerDay", "costMicrosPerDay", "money in a day of UTC"],
  ["calls-at-once", "callsAtOnce", "concurrentCalls", "model calls at the same time"]
] as const

/** What a tenant may use is a matter of the whole fleet. */
const addLimits = (root: Command, trunk: Trunk): void => {
  const limits = leaf(root, "limits", {
    kind: "order",
    says: "show what a tenant may use of models in a minute and a day, or set it",
    example: "limits --cost-per-day 5.00 --calls-per-minute none"
  })
  for (const [flag, , name, noun] of limitFlags) {
    const isMoney = name.startsWith("cost")
    limits.addOption(
      new Option(`--${flag} <${isMoney ? "amount" : "n"}>`, `most ${noun}; none: as the program says`).argParser(
        isMoney ? mostMoney : mostWhole
      )
    )
  }
  does(limits, trunk, async (options: LimitOptions) => {
    const said = limitFlags.map(([, key, name]) => [name, options[key]] as const)
    const wanted = said.flatMap(([name, most]) => (most === undefined ? [] : [[name, most === "none" ? null : most]]))
    return (await import("../commands/agents/limits.ts")).limits(
      Object.fromEntries(wanted) as Wanted,
      options,
      trunk.stop
    )
  })
}

const addDecisions = (agents: Command, trunk: Trunk): void => {
  for (const [name, decision, says] of [
    ["approve", "approved", "let a call run that waits for a person"],
    ["deny", "denied", "refuse a call that waits for a person"]
  ] as const) {
    const leafed = leaf(agents, `${name} <id> [approval]`, { kind: "order", says, example: `agents ${name} desk` })
    tells(
      leafed.option("--note <text>", "shown to the assistant"),
      trunk,
      (value, options: { readonly note?: string }) => ({
        type: "decide",
        decision,
        ...defined({ approval: value, note: options.note })
      })
    )
  }
}

/** What model calls took is a matter of the whole fleet. */
const addUsage = (root: Command, trunk: Trunk): void => {
  const usage = leaf(root, "usage [id]", {
    kind: "list",
    says: "show what model calls took, and what that cost: of one assistant, or of all",
    example: "usage desk --by model --since 7d"
  })
    .addOption(
      new Option(
        "--by <what>",
        "a row for each; purposes of one assistant, and assistants of all, when not said"
      ).choices([...usageGroups])
    )
    .addOption(
      new Option("--since <moment>", "a date, or how long ago, like 24h or 30d; 24 hours when not said").argParser(
        moment
      )
    )
    .option("--greatest", "those that cost most first", false)
  does(usage, trunk, async (options, id) =>
    (await import("../commands/agents/agents.ts")).usage(id, options, trunk.stop)
  )
}

export const addAgents = (root: Command, trunk: Trunk): void => {
  const agents = branch(root, "agents", "look at assistants, or give them orders")
  addReadings(agents, trunk)
  addCache(agents, trunk)
  addKinds(agents, trunk)
  const create = leaf(agents, "create <id>", {
    kind: "order",
    says: "create one, from a definition of the fleet",
    example: "agents create desk-2 --from desk"
  }).option("--from <definition>", "the definition; the one of the same id when not said")
  does(create, trunk, async (options, id) =>
    (await import("../commands/agents/orders.ts")).create(id, options, trunk.stop)
  )
  const send = leaf(agents, "send <id> [text]", {
    kind: "order",
    says: "send a message to one; without a text, what is piped in",
    example: 'agents send desk "Good morning" --id monday-1'
  })
    .addOption(attachOption())
    .addOption(contextOption())
  does(send, trunk, async (options: SendOptions, id, said) => {
    const { attached, saidOrPiped } = await import("../consent.ts")
    const parts = await attached(options.attach)
    const text = parts !== undefined && said === undefined ? "" : await saidOrPiped(said, "the text")
    const order = { type: "send", text, ...defined({ parts, context: options.context }) } as const
    return (await import("../commands/agents/orders.ts")).command(id, order, options, trunk.stop)
  })
  addSimple(agents, trunk)
  addBudget(agents, trunk)
  addDecisions(agents, trunk)
  addMovingOf(agents, "agents ", trunk)
  addUsage(root, trunk)
  addLimits(root, trunk)
}
