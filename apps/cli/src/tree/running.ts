// Running: the part of the tree that opens fleets: start, run, dev, chat, serve, init.

import { type Command, Option } from "commander"
import { does, leaf, type Trunk } from "./leaf.ts"
import {
  atLeastOne,
  attachOption,
  contextOption,
  dataOption,
  fleetOption,
  forceOption,
  formOption,
  jsonOption,
  modelOption,
  ownDataOption,
  seconds,
  timeoutOption,
  waitModelOption,
  whole
} from "./options.ts"

const url = () => new Option("--url <url>", "a running server, instead of opening the fleet").env("REVERIE_URL")
const tokenFile = () => new Option("--token-file <file>", "the file with its token; REVERIE_TOKEN when not said")

const addPage = (command: Command): Command =>
  command
    .addOption(
      new Option("--port <n>", "of the page and the API; 4000 or the next free one when not said").argParser(whole)
    )
    .option("--no-page", "serve no page, only the API")
    .option("--no-server", "start no HTTP server")

const addStart = (root: Command, trunk: Trunk): void => {
  const start = leaf(root, "start", {
    kind: "other",
    says: "open the example fleet, play its day, report, and stay up for a chat and the page",
    example: "start"
  })
    .addOption(ownDataOption(".reverie/harbor"))
    .addOption(modelOption("offline"))
    .addOption(forceOption())
    .addOption(jsonOption())
    .option("--exit", "end after the report", false)
    .option("--quiet", "show no progress", false)
  does(addPage(start), trunk, async (options) =>
    (await import("../commands/running/start.ts")).start(options, trunk.stop)
  )
  const dev = leaf(root, "dev", {
    kind: "other",
    says: "keep a fleet up with its page, show what it does, and chat",
    example: "dev --fleet fleet.ts"
  })
    .addOption(fleetOption())
    .addOption(dataOption())
    .addOption(modelOption("env"))
    .addOption(forceOption())
  does(addPage(dev), trunk, async (options) => (await import("../commands/running/start.ts")).dev(options, trunk.stop))
}

const addRun = (root: Command, trunk: Trunk): void => {
  const run = leaf(root, "run", {
    kind: "other",
    says: "give a fleet events, or one prompt, and wait until it has come to rest",
    example: 'run --fleet fleet.ts --agent desk -p "What is open today?"'
  })
    .addOption(fleetOption())
    .addOption(url())
    .addOption(tokenFile())
    .addOption(dataOption())
    .addOption(modelOption("env"))
    .addOption(forceOption())
    .option("--events <file>", "events, one JSON object a line; - reads standard input")
    .option("-p, --prompt <text>", "ask one question, print the answer and end; - reads standard input")
    .option("--agent <id>", "whom to ask; the default assistant when left out")
    .option("--id <key>", "idempotency key of the prompt: the same is asked once")
    .addOption(contextOption())
    .addOption(formOption())
    .addOption(jsonOption())
    .option("--jsonl", "print every notice as a line of JSON, the report last", false)
    .addOption(new Option("--output <form>", "the same as --json or --jsonl").choices(["text", "json", "jsonl"]))
    .option("--exit", "end after the report", false)
    .option("--quiet", "show no progress", false)
    .option("--resume", "let halted assistants go on first", false)
    .addOption(new Option("--max-turns <n>", "most model calls of the prompt").argParser(atLeastOne))
    .addOption(new Option("--max-cost <amount>", "most money of the prompt").argParser(Number))
    .addOption(new Option("--patience <seconds>", "wait for what happens by itself").argParser(seconds).default(5))
    .addOption(waitModelOption())
    .addOption(timeoutOption())
  does(run, trunk, async (options) => (await import("../commands/running/run.ts")).run(options, trunk.stop))
  const chat = leaf(root, "chat <assistant>", {
    kind: "other",
    says: "chat with one assistant; piped input is sent line by line",
    example: 'chat desk --fleet fleet.ts -m "Good morning"'
  })
    .addOption(fleetOption())
    .addOption(url())
    .addOption(tokenFile())
    .addOption(dataOption())
    .addOption(modelOption("env"))
    .option("-m, --message <text>", "say this, print the answer and end")
    .addOption(attachOption())
    .addOption(contextOption())
    .addOption(formOption())
    .addOption(jsonOption())
    .addOption(waitModelOption())
    .addOption(timeoutOption())
  does(chat, trunk, async (options, assistant) =>
    (await import("../commands/chat.ts")).chatWith(assistant, options, trunk.stop)
  )
}

const addServe = (root: Command, trunk: Trunk): void => {
  const serve = leaf(root, "serve", {
    kind: "other",
    says: "run one process of a deployment: its API and page, its workers, or both",
    example: "serve --role api --fleet fleet.ts --port 4000"
  })
    .addOption(fleetOption().makeOptionMandatory())
    .addOption(new Option("--role <which>", "what it does").choices(["all", "api", "worker"]).default("all"))
    .addOption(dataOption())
    .addOption(modelOption("env"))
    .addOption(forceOption())
    .addOption(new Option("--host <address>", "where it listens").default("127.0.0.1"))
    .addOption(new Option("--port <n>", "0 for any that is free").argParser(whole).default(4_000))
    .option("--open", "listen for others without REVERIE_TOKEN: something else guards it; say --allow-host too", false)
    .option("--allow-host <name...>", "names under which it is asked, besides localhost; with --open the only ones")
    .option("--no-page", "serve no page, only the API")
    .addOption(new Option("--concurrency <n>", "assistants that may work at once").argParser(atLeastOne))
    .addOption(
      new Option("--grace <seconds>", "asked to stop, wait so long for what runs to end").argParser(whole).default(20)
    )
  does(serve, trunk, async (options) => (await import("../commands/running/serve.ts")).serve(options, trunk.stop))
}

export const addRunning = (root: Command, trunk: Trunk): void => {
  const init = leaf(root, "init [dir]", {
    kind: "change",
    says: "begin a fleet in a directory; files that are there stay as they are",
    example: "init my-fleet"
  })
  does(init, trunk, async (options, directory) => (await import("../commands/init.ts")).init(directory, options))
  addStart(root, trunk)
  addRun(root, trunk)
  addServe(root, trunk)
}
