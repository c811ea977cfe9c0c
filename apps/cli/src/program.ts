// Program: the tree of commands.
// Owns putting it together and running what was named. Leaves each part to its file in tree/, each command to its own,
// loaded only when it is called.
// P1  `--version` and `--help` load nothing but this tree.
// P2  A wrong use is one line with a hint, and exit 2. What is a command elsewhere, or is called so by others, is named whole.

import { Command, CommanderError } from "commander"
import { addBench } from "./commands/bench.ts"
import { addEval } from "./commands/eval.ts"
import { ownVersion } from "./commands/version.ts"
import { CommandFailed } from "./failure.ts"
import type { Stop } from "./running/stop.ts"
import { addAgents } from "./tree/agents.ts"
import { addChecking, addSteering } from "./tree/steering.ts"
import type { Trunk } from "./tree/leaf.ts"
import { addMinds } from "./tree/minds.ts"
import { addMoving } from "./tree/moving.ts"
import { addRunning } from "./tree/running.ts"

export const treeOf = (trunk: Trunk): Command => {
  const root = new Command("reverie")
    .description("Runs fleets of long-lived assistants.")
    .version(ownVersion(), "-V, --version")
    .showSuggestionAfterError(true)
    .enablePositionalOptions()
  const parts = [
    ["Run a fleet:", addRunning],
    ["Assistants:", addAgents],
    ["What they keep:", addMinds],
    ["Operate:", addSteering],
    ["Move and keep data:", addMoving],
    ["Check:", addChecking],
    ["Check:", addEval],
    ["Check:", addBench]
  ] as const
  for (const [title, add] of parts) {
    root.commandsGroup(title)
    add(root, trunk)
  }
  return root
}

/** Every command, those that hold others among them. */
export const everyCommand = (command: Command): ReadonlyArray<Command> => [
  command,
  ...command.commands.flatMap(everyCommand)
]

/** What others call some commands. */
const alsoCalled: Readonly<Record<string, string>> = {
  cost: "usage",
  delete: "rm",
  describe: "inspect",
  get: "inspect",
  list: "ls",
  message: "send",
  new: "create",
  remove: "rm",
  retire: "rm",
  show: "inspect"
}

const wholeName = (command: Command): string =>
  command.parent === null ? command.name() : `${wholeName(command.parent)} ${command.name()}`

/** A command that there is not, with those that have this name in their own group. */
const withPlace = (error: unknown, root: Command, [first]: ReadonlyArray<string>): unknown => {
  if (!(error instanceof CommanderError) || error.code !== "commander.unknownCommand") return error
  const [, name = ""] = /'(.*)'/.exec(error.message) ?? []
  const all = everyCommand(root)
  const also = all.filter((each) => each.name() === alsoCalled[name])
  const inGroup = also.filter(({ parent }) => parent?.name() === first)
  const named = all.filter((each) => each.name() === name)
  const meant = [inGroup, named, also].find(({ length }) => length > 0)
  if (meant === undefined) return error
  const whole = meant.map(wholeName).join(" or ")
  return new CommanderError(error.exitCode, error.code, `unknown command '${name}' (Did you mean ${whole}?)`)
}

/** Of a group alone: the commands that it holds. */
const withCommands = (error: unknown, root: Command, args: ReadonlyArray<string>): unknown => {
  if (!(error instanceof CommanderError) || error.code !== "commander.help") return error
  const group = root.commands.find((each) => each.name() === args[0]) ?? root
  const whole = group === root ? "reverie" : `reverie ${group.name()}`
  const names = group.commands.map((each) => each.name()).join(", ")
  return new CommandFailed("usage", `a command is missing after ${whole}: ${names}`, { hint: `${whole} --help` })
}

/** Runs the command that `args` name; answers its exit code, rejects when it failed. */
export const runProgram = async (args: ReadonlyArray<string>, stop: Stop): Promise<number> => {
  let exit = 0
  const root = treeOf({
    stop,
    onExit: (code) => {
      exit = code
    }
  })
  for (const command of everyCommand(root)) {
    // Its own words for a wrong use are thrown, and told by the code that tells every failure.
    command.exitOverride().configureOutput({ writeErr: () => {} })
  }
  await root.parseAsync(args, { from: "user" }).catch((error: unknown) => {
    throw withCommands(withPlace(error, root, args), root, args)
  })
  return exit
}
