// Leaves: every command of the tree, with arguments that fit it, so that no test has a list of its own to forget one in.

import { fileURLToPath } from "node:url"
import type { Command } from "commander"
import { everyCommand, treeOf } from "../src/program.ts"
import { Stop } from "../src/running/stop.ts"
import { factsOf, type LeafFacts } from "../src/tree/leaf.ts"

export interface Leaf {
  readonly command: Command
  readonly facts: LeafFacts
  /** The words that name it. */
  readonly path: ReadonlyArray<string>
}

export const tree = treeOf({ stop: new Stop(), onExit: () => {} })

const pathOf = (command: Command): ReadonlyArray<string> =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()]

export const leaves: ReadonlyArray<Leaf> = everyCommand(tree).flatMap((command) => {
  const facts = factsOf(command)
  return facts === undefined ? [] : [{ command, facts, path: pathOf(command) }]
})

const fitting: Readonly<Record<string, string>> = {
  id: "clerk",
  assistant: "clerk",
  question: "Where is the key?",
  shell: "bash",
  setting: "data",
  value: "x",
  text: "x",
  block: "notes",
  what: "notes",
  key: "default",
  // It can be read, whatever it holds.
  file: fileURLToPath(new URL("../package.json", import.meta.url))
}

/** The arguments that it must have, whom it is about, and texts that it would read from a pipe otherwise. */
export const argumentsOf = (
  { command }: Leaf,
  values: Readonly<Record<string, string>> = {}
): ReadonlyArray<string> => {
  const given = command.registeredArguments.flatMap((argument) => {
    const name = argument.name()
    return argument.required || name === "text" || name === "id" ? [values[name] ?? fitting[name] ?? "x"] : []
  })
  const mandatory = command.options.flatMap(({ long, mandatory: must }) => (must ? [long ?? "", "1"] : []))
  return [...given, ...mandatory]
}
