// Steering: the parts of the tree about what asks for a hand (approvals, queues, the live fleet), and about the program itself.

import { type Command, Option, Argument } from "commander"
import { branch, does, leaf, type Trunk } from "./leaf.ts"
import { atLeastOne, seconds, addBackend, fleetOption, gathered, jsonOption, modelOption } from "./options.ts"

const addApprovals = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const approvals = branch(root, "approvals", "calls of the whole fleet that wait for a person")
  const ls = leaf(approvals, "ls", { kind: "list", says: "list the open ones", example: "approvals ls --watch" })
  does(ls, trunk, async (options) => (await import("../commands/agents/approvals.ts")).list(options, stop))
  const show = leaf(approvals, "show <approval>", {
    kind: "look",
    says: "show the call exactly as it would run",
    example: "approvals show a-1"
  })
  does(show, trunk, async (options, id) => (await import("../commands/agents/approvals.ts")).show(id, options, stop))
  for (const [name, decision, says] of [
    ["approve", "approved", "let the call run"],
    ["deny", "denied", "refuse the call"]
  ] as const) {
    const decide = leaf(approvals, `${name} <approval>`, { kind: "order", says, example: `approvals ${name} a-1` })
    does(decide.option("--note <text>", "shown to the assistant"), trunk, async (options, id) =>
      (await import("../commands/agents/approvals.ts")).decide(id, decision, options, stop)
    )
  }
}

const addQueues = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const queues = branch(root, "queues", "what waits, dead letters, and stopping all of it")
  const ls = leaf(queues, "ls", { kind: "list", says: "what waits, and where", example: "queues ls" })
  does(ls, trunk, async (options) => (await import("../commands/queues.ts")).list(options, stop))
  const dead = leaf(queues, "dead", {
    kind: "list",
    says: "list the dead letters, the newest first",
    example: "queues dead"
  })
  does(dead, trunk, async (options) => (await import("../commands/queues.ts")).dead(options, stop))
  const retry = leaf(queues, "retry <id> <envelope>", {
    kind: "order",
    says: "send a dead letter again, under a new id",
    example: "queues retry desk m-17"
  })
  does(retry, trunk, async (options, id, envelope) =>
    (await import("../commands/queues.ts")).retry(id, envelope, options, stop)
  )
  const discard = leaf(queues, "discard <id> <envelope>", {
    kind: "order",
    says: "discard a dead letter, without sending it",
    example: "queues discard desk m-17 --yes"
  })
  does(discard, trunk, async (options, id, envelope) =>
    (await import("../commands/queues.ts")).discard(id, envelope, options, stop)
  )
  const pause = leaf(queues, "pause [reason]", {
    kind: "order",
    says: "halt all: holding back wake-ups alone would stop no one",
    example: "queues pause --yes"
  })
  does(pause, trunk, async (options, reason) => {
    const because = reason === undefined ? {} : { reason: reason as string }
    return (await import("../commands/queues.ts")).pause({ ...(options as object), ...because } as never, stop)
  })
  const resume = leaf(queues, "resume", {
    kind: "order",
    says: "resume every assistant that is halted",
    example: "queues resume"
  })
  does(resume, trunk, async (options) => (await import("../commands/queues.ts")).resume(options, stop))
  const drain = leaf(queues, "drain", {
    kind: "order",
    says: "wait until every inbox is empty",
    example: "queues drain --timeout 60"
  })
  does(drain, trunk, async (options) => (await import("../commands/queues.ts")).drain(options, stop))
}

export const addSteering = (root: Command, trunk: Trunk): void => {
  addApprovals(root, trunk)
  addQueues(root, trunk)
  const top = leaf(root, "top", { kind: "look", says: "watch the fleet live", example: "top" })
    .option("--once", "one table, and end", false)
    .addOption(new Option("--limit <n>", "most rows").argParser(atLeastOne).default(50))
    .addOption(new Option("--every <seconds>", "between two looks").argParser(seconds).default(1))
  does(top, trunk, async (options) => (await import("../commands/top.ts")).top(options, trunk.stop))
}

// Checking: the part of the tree about the program itself: doctor, config, mcp, completion, version.

const addConfig = (root: Command, trunk: Trunk): void => {
  const config = branch(root, "config", "what is set, and its source")
  const showOrigin = ["--show-origin", "show its source"] as const
  const get = leaf(config, "get <setting>", { kind: "other", says: "print one setting", example: "config get data" })
    .addOption(jsonOption())
    .option(...showOrigin, false)
  does(get, trunk, async (options, name) => (await import("../commands/config.ts")).get(name, options))
  const set = leaf(config, "set <setting> <value>", {
    kind: "change",
    says: "write one setting into the project's file, or yours",
    example: "config set --user model gpt-5-mini"
  }).option("--user", "into your own file", false)
  does(set, trunk, async (options, name, value) => (await import("../commands/config.ts")).set(name, value, options))
  const list = leaf(config, "list", {
    kind: "plain-list",
    says: "list what is set; secrets are masked",
    example: "config list --show-origin"
  }).option(...showOrigin, false)
  does(list, trunk, async (options) => (await import("../commands/config.ts")).list(options))
  const path = leaf(config, "path", { kind: "plain-list", says: "name the files", example: "config path" })
  does(path, trunk, async (options) => (await import("../commands/config.ts")).path(options))
}

const addMcp = (root: Command, trunk: Trunk): void => {
  const mcp = branch(root, "mcp", "offer a fleet to MCP clients, or look at an MCP server")
  const serve = addBackend(
    leaf(mcp, "serve", {
      kind: "other",
      says: "offer a fleet to an MCP client over standard input and output",
      example: "mcp serve --fleet fleet.ts"
    })
  )
    .addOption(fleetOption())
    .addOption(modelOption("env"))
    .option("--allow-writes", "offer sending too, not only looking", false)
    .addOption(jsonOption())
  does(serve, trunk, async (options) => (await import("../commands/mcp.ts")).serve(options, trunk.stop))
  const tools = leaf(mcp, "tools [command...]", {
    kind: "plain-list",
    says: "list the tools of an MCP server, with the pins for a fleet file",
    example: "mcp tools -- npx some-mcp-server"
  })
    .option("--server <url>", "a server over HTTP, instead of a command")
    .option("--header <name=value>", "a header of its requests; again for another one", gathered, [])
  does(tools, trunk, async (options, command) =>
    (await import("../commands/mcp.ts")).tools(command, options, trunk.stop)
  )
}

export const addChecking = (root: Command, trunk: Trunk): void => {
  const doctor = addBackend(
    leaf(root, "doctor", {
      kind: "other",
      says: "check what a fleet needs here, and say what to do",
      example: "doctor"
    })
  )
    .option("--deep", "read everything that is stored, and name what is damaged", false)
    .addOption(jsonOption())
  does(doctor, trunk, async (options) => trunk.stop.orAsked((await import("../commands/doctor.ts")).doctor(options)))
  addConfig(root, trunk)
  addMcp(root, trunk)
  const completion = leaf(root, "completion", {
    kind: "other",
    says: "print a script that completes commands in a shell",
    example: "completion bash > ~/.local/share/bash-completion/completions/reverie"
  }).addArgument(new Argument("<shell>", "which one").choices(["bash", "zsh", "fish"]))
  does(completion, trunk, async (_, shell) => (await import("../commands/completion.ts")).completion(shell, root))
  const version = leaf(root, "version", { kind: "other", says: "print the version", example: "version" }).addOption(
    jsonOption()
  )
  does(version, trunk, async (options) => (await import("../commands/version.ts")).version(options))
}
