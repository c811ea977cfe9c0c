// Checking: the part of the tree about the program itself: doctor, config, mcp, completion, version.

import { Argument, type Command } from "commander"
import { branch, does, leaf, type Trunk } from "./leaf.ts"
import { addBackend, fleetOption, gathered, jsonOption, modelOption } from "./options.ts"

const addConfig = (root: Command, trunk: Trunk): void => {
  const config = branch(root, "config", "what is set, and where it comes from")
  const showOrigin = ["--show-origin", "say where it comes from"] as const
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
  does(doctor, trunk, async (options) => (await import("../commands/doctor.ts")).doctor(options))
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
