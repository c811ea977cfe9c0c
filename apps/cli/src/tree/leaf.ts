// Leaf: a command that does something, as the tree holds it.
// Owns what each of them must say of itself. Leaves what it does to its own file, loaded when it is called.
// L1  Each has one sentence, one example, and a kind; lists and changes have the options of their kind.

import type { Command } from "commander"
import type { Stop } from "../running/stop.ts"
import { addChanging, addListing, addOrdering, addBackend } from "./options.ts"

/**
 * look: reads through a server or the store. list: the same, many of a kind. order: changes something there. plain-list
 * and change: the same without a reach. other: neither.
 */
export type Kind = "look" | "list" | "order" | "plain-list" | "change" | "other"

export interface LeafFacts {
  readonly kind: Kind
  readonly says: string
  /** What follows `reverie`. */
  readonly example: string
  /** Done when nothing else of its branch is named. */
  readonly isDefault?: true
}

const facts = new WeakMap<Command, LeafFacts>()

/** What a command says of itself; undefined of those that only hold others. */
export const factsOf = (command: Command): LeafFacts | undefined => facts.get(command)

const withOptions = (command: Command, kind: Kind): Command => {
  switch (kind) {
    case "look":
      return addBackend(command).option("--json", "print one JSON object on stdout", false)
    case "list":
      return addBackend(addListing(command))
    case "plain-list":
      return addListing(command)
    case "order":
      return addOrdering(command)
    case "change":
      return addChanging(command)
    case "other":
      return command
  }
}

export interface Trunk {
  readonly stop: Stop
  readonly onExit: (exit: number) => void
}

/** Adds a command; `usage` is its name and its arguments. */
export const leaf = (parent: Command, usage: string, told: LeafFacts): Command => {
  const command = parent.command(usage, { isDefault: told.isDefault === true }).description(told.says)
  command.addHelpText("after", `\nExample:\n  reverie ${told.example}`)
  facts.set(command, told)
  return withOptions(command, told.kind)
}

/** A command that holds others. */
export const branch = (parent: Command, name: string, says: string): Command => parent.command(name).description(says)

/** Does it, and keeps its exit code. Arguments come in the order of the usage, options are as commander read them. */
export const does = (
  command: Command,
  { onExit }: Trunk,
  run: (options: never, ...args: ReadonlyArray<never>) => number | Promise<number>
): Command =>
  command.action(async (...given: ReadonlyArray<unknown>) => {
    const options = given.at(-2) as never
    const args = given.slice(0, -2) as unknown as ReadonlyArray<never>
    onExit(await run(options, ...args))
  })
