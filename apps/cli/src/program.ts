// Program: the tree of commands and their options.
// Owns names, defaults and help. Leaves each command to its own file, loaded only when it is called.
// P1  `--version` and `--help` load nothing but this tree.
// P2  A wrong use is one line with a hint, and exit 2.

import { Argument, Command, InvalidArgumentError, Option } from "commander"
import { ownVersion } from "./commands/version.ts"
import { addMoving } from "./program-moving.ts"
import type { Stop } from "./stop.ts"

/** What a command does: its options as commander read them, its exit code as a promise. */
type Run<Options> = (options: Options) => number | Promise<number>

const positive = (text: string): number => {
  const value = Number(text)
  if (!(Number.isFinite(value) && value >= 0)) throw new InvalidArgumentError("It must be a number of seconds.")
  return value
}

const whole = (text: string): number => {
  const value = Number(text)
  if (text.trim() === "" || !Number.isSafeInteger(value) || value < 0) {
    throw new InvalidArgumentError("It must be a whole number.")
  }
  return value
}

const atLeastOne = (text: string): number => {
  const value = whole(text)
  if (value === 0) throw new InvalidArgumentError("It must be at least 1.")
  return value
}

const ownDataOption = (fallback: string): Option =>
  new Option("--data <dir>", "data directory").env("REVERIE_DATA").default(fallback)

/** Without it, the servers that DATABASE_URL and REDIS_URL name, and a directory when they name none. */
const dataOption = (): Option => {
  const option = new Option("--data <dir>", "data directory; none when DATABASE_URL is set").env("REVERIE_DATA")
  return (process.env["DATABASE_URL"] ?? "") === "" ? option.default(DATA) : option
}

const fleetOption = (): Option =>
  new Option("--fleet <file>", "the file that exports the fleet").env("REVERIE_FLEET").makeOptionMandatory()

const modelOption = (fallback: "env" | "offline"): Option =>
  new Option(
    "--model <which>",
    "env: what OPENAI_* names, or offline when nothing is set; offline: the built-in stand-in"
  )
    .choices(["env", "offline"])
    .default(fallback)

const jsonOption = (): Option => new Option("--json", "print one JSON object on stdout").default(false)

const timeoutOption = (): Option => new Option("--timeout <seconds>", "longest wait").argParser(positive)

const DATA = ".reverie"

class Tree {
  readonly root = new Command("reverie")
  exit = 0
  readonly #stop: Stop

  constructor(stop: Stop) {
    this.#stop = stop
    this.root
      .description("Runs fleets of long-lived assistants.")
      .version(ownVersion(), "-V, --version")
      .showSuggestionAfterError(true)
      .enablePositionalOptions()
    this.#addRunning()
    this.#addServing()
    this.#addMemory()
    this.#addCompactions()
    this.#addAgents(this.root.command("agents").description("look at assistants, or give them orders"))
    addMoving(this.root, {
      dataOption,
      ownDataOption: () => ownDataOption(DATA),
      jsonOption,
      onExit: (exit) => {
        this.exit = exit
      }
    })
    this.#addChecking()
  }

  /** Wraps a command's work so that its exit code is kept. */
  #does<Options>(run: Run<Options>): (options: Options) => Promise<void> {
    return async (options) => {
      this.exit = await run(options)
    }
  }

  #addRunning(): void {
    const stop = this.#stop
    this.root
      .command("start")
      .description("open the example fleet, play its day, report, and stay up for a chat")
      .addOption(ownDataOption(`${DATA}/harbor`))
      .addOption(modelOption("offline"))
      .addOption(jsonOption())
      .option("--exit", "end after the report", false)
      .option("--quiet", "show no progress", false)
      .action(this.#does(async (options) => (await import("./commands/start.ts")).start(options as never, stop)))
    this.root
      .command("run")
      .description("give a fleet events, or one prompt, and wait until it has come to rest")
      .addOption(fleetOption())
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .option("--events <file>", "events, one JSON object a line; - reads standard input")
      .option("-p, --prompt <text>", "ask one question, print the answer and end")
      .option("--agent <id>", "whom to ask; the reception when not said")
      .addOption(jsonOption())
      .option("--jsonl", "print every notice as a line of JSON, the report last", false)
      .option("--exit", "end after the report", false)
      .option("--quiet", "show no progress", false)
      .option("--resume", "let halted assistants go on first", false)
      .addOption(new Option("--patience <seconds>", "wait for what happens by itself").argParser(positive).default(5))
      .addOption(timeoutOption())
      .action(this.#does(async (options) => (await import("./commands/run.ts")).run(options as never, stop)))
    this.root
      .command("dev")
      .description("keep a fleet up, show what it does, and chat")
      .addOption(fleetOption())
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .action(this.#does(async (options) => (await import("./commands/dev.ts")).dev(options as never, stop)))
    this.root
      .command("chat")
      .description("speak with one assistant")
      .argument("<assistant>")
      .addOption(fleetOption())
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .option("-m, --message <text>", "say this, print the answer and end")
      .addOption(jsonOption())
      .addOption(timeoutOption())
      .action(async (assistant: string, options: object) => {
        this.exit = await (await import("./commands/chat.ts")).chatWith(assistant, options as never, stop)
      })
  }

  #addServing(): void {
    const stop = this.#stop
    this.root
      .command("serve")
      .description("run one process of a deployment: its API, its workers, or both")
      .addOption(fleetOption())
      .addOption(new Option("--role <which>", "what it does").choices(["all", "api", "worker"]).default("all"))
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .addOption(new Option("--host <address>", "where it listens").default("127.0.0.1"))
      .addOption(new Option("--port <n>", "0 for any that is free").argParser(whole).default(4_000))
      .option("--open", "listen for others without REVERIE_TOKEN: something else guards it", false)
      .option("--allow-host <name...>", "names under which it is asked, besides localhost")
      .addOption(new Option("--concurrency <n>", "assistants that may work at once").argParser(atLeastOne))
      .action(this.#does(async (options) => (await import("./commands/serve.ts")).serve(options as never, stop)))
  }

  #addAgents(agents: Command): void {
    agents
      .command("ls")
      .description("list the assistants of a data directory")
      .addOption(dataOption())
      .addOption(jsonOption())
      .action(this.#does(async (options) => (await import("./commands/agents.ts")).list(options as never)))
    agents
      .command("inspect")
      .description("show the state and the latest history of one")
      .argument("<id>")
      .addOption(dataOption())
      .addOption(jsonOption())
      .action(async (id: string, options: object) => {
        this.exit = await (await import("./commands/agents.ts")).inspect(id, options as never)
      })
    agents
      .command("context")
      .description("show what the model of one was shown, and what differs from another tick")
      .argument("<id>")
      .addOption(new Option("--tick <n>", "the tick; the newest one when not said").argParser(whole))
      .addOption(
        new Option("--iteration <n>", "the model call of the tick; the last one when not said").argParser(whole)
      )
      .addOption(new Option("--diff <n>", "compare with the last model call of this tick").argParser(whole))
      .addOption(dataOption())
      .addOption(jsonOption())
      .action(async (id: string, options: object) => {
        this.exit = await (await import("./commands/context.ts")).context(id, options as never)
      })
    this.#addOrder(agents, "send", "say something to one", new Argument("<text>")).option(
      "--id <key>",
      "idempotency key: the same is accepted once"
    )
    this.#addOrder(agents, "halt", "stop one in an emergency", new Argument("[reason]"))
    this.#addOrder(agents, "resume", "let a halted one go on")
    this.#addOrder(agents, "approve", "let a call run that waits for a person", new Argument("[approval]"))
    this.#addOrder(agents, "deny", "refuse a call that waits for a person", new Argument("[approval]"))
  }

  #addMemory(): void {
    this.root
      .command("memory")
      .description("look into the memory of one assistant, or make its index anew")
      .argument("<id>")
      .addArgument(
        new Argument("[view]", "what to show")
          .choices(["overview", "recall", "facts", "profiles", "dreams", "rebuild"])
          .default("overview")
      )
      .argument("[question]", "what to recall")
      .addOption(new Option("--limit <n>", "most memories").argParser(atLeastOne).default(10))
      .addOption(new Option("--scope <which>", "whose memories").choices(["own", "shared", "fleet"]))
      .addOption(new Option("--mode <how>", "how to search").choices(["auto", "fts", "vector", "hybrid"]))
      .addOption(
        new Option("--kind <kind...>", "only memories of these kinds").choices([
          "message",
          "answer",
          "episode",
          "fact",
          "passage",
          "profile",
          "block"
        ])
      )
      .addOption(dataOption())
      .addOption(jsonOption())
      .action(async (id: string, view: string, question: string | undefined, options: object) => {
        this.exit = await (await import("./commands/memory.ts")).memory(id, view as never, question, options as never)
      })
  }

  #addCompactions(): void {
    const stop = this.#stop
    this.root
      .command("compactions")
      .description("list what was folded of a history, show one folding, or take it back")
      .argument("<id>")
      .addOption(new Option("--show <compaction>", "what it replaced, beside its summary").conflicts("undo"))
      .option("--undo <compaction>", "show its messages to the model again; needs --fleet")
      .addOption(new Option("--fleet <file>", "the file that exports the fleet").env("REVERIE_FLEET"))
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .addOption(jsonOption())
      .option("--no-wait", "end as soon as the order is durable")
      .addOption(timeoutOption())
      .action(async (id: string, options: object) => {
        this.exit = await (await import("./commands/compactions.ts")).compactions(id, options as never, stop)
      })
  }

  #addOrder(agents: Command, name: OrderName, description: string, argument?: Argument): Command {
    const order = agents.command(name).description(description).argument("<id>")
    if (argument !== undefined) order.addArgument(argument)
    return order
      .addOption(fleetOption())
      .addOption(dataOption())
      .addOption(modelOption("env"))
      .addOption(jsonOption())
      .option("--no-wait", "end as soon as the order is durable")
      .addOption(timeoutOption())
      .action(async (id: string, ...rest: ReadonlyArray<unknown>) => {
        const value = argument === undefined ? undefined : (rest[0] as string | undefined)
        const options = rest[argument === undefined ? 0 : 1] as { readonly id?: string }
        const { command } = await import("./commands/agents.ts")
        this.exit = await command(id, orderOf(name, value, options.id), options as never, this.#stop)
      })
  }

  #addChecking(): void {
    this.root
      .command("doctor")
      .description("check what a fleet needs here, and say what to do")
      .addOption(dataOption())
      .addOption(jsonOption())
      .action(this.#does(async (options) => (await import("./commands/doctor.ts")).doctor(options as never)))
    this.root
      .command("version")
      .description("print the version")
      .addOption(jsonOption())
      .action(this.#does(async (options) => (await import("./commands/version.ts")).version(options as never)))
  }
}

type OrderName = "send" | "halt" | "resume" | "approve" | "deny"

const orderOf = (name: OrderName, value: string | undefined, id: string | undefined) => {
  switch (name) {
    case "send":
      return { type: "send", text: value ?? "", ...(id === undefined ? {} : { id }) } as const
    case "halt":
      return { type: "halt", reason: value ?? "halted by order" } as const
    case "resume":
      return { type: "resume" } as const
    case "approve":
    case "deny":
      return {
        type: "decide",
        decision: name === "approve" ? "approved" : "denied",
        ...(value === undefined ? {} : { approval: value })
      } as const
  }
}

/** Runs the command that `args` name; answers its exit code, rejects when it failed. */
export const runProgram = async (args: ReadonlyArray<string>, stop: Stop): Promise<number> => {
  const tree = new Tree(stop)
  for (const command of [tree.root, ...tree.root.commands, ...tree.root.commands.flatMap((each) => each.commands)]) {
    // Its own words for a wrong use are thrown, and told by whoever tells every failure.
    command.exitOverride().configureOutput({ writeErr: () => {} })
  }
  await tree.root.parseAsync(args, { from: "user" })
  return tree.exit
}
