// Searching: the options by which a search of a memory narrows itself.
// Owns their names and how their values are read. Leaves what is found to the SDK.

import { type Command, InvalidArgumentError, Option } from "commander"
import { endMoment, moment } from "./options.ts"

const kinds = ["message", "answer", "episode", "fact", "passage", "profile", "block"]

const trust = (text: string): number => {
  const value = Number(text)
  if (text.trim() === "" || !(value >= 0 && value <= 1)) throw new InvalidArgumentError("It must be a number, 0 to 1.")
  return value
}

/** Words with commas between them, and more where it is given again. */
const words = (text: string, before: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const said = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
  if (said.length === 0) throw new InvalidArgumentError("It must name something.")
  return [...before, ...said]
}

export const addSearching = (command: Command): Command =>
  command
    .addOption(new Option("--scope <which>", "whose memories").choices(["own", "shared", "fleet"]))
    .addOption(new Option("--mode <how>", "how to search").choices(["auto", "fts", "vector", "hybrid"]))
    .addOption(new Option("--kind <kind...>", "only memories of these kinds").choices(kinds))
    .addOption(
      new Option("--since <moment>", "what happened from then on: a date, or how long ago, like 24h or 30d").argParser(
        moment
      )
    )
    .addOption(
      new Option("--until <moment>", "what happened up to then; of a date, to the end of that day (UTC)").argParser(
        endMoment
      )
    )
    .addOption(new Option("--min-trust <n>", "what is trusted at least so far, 0 to 1").argParser(trust))
    .addOption(
      new Option(
        "--entity <name>",
        "what is about this one, or another that is named: again, or with commas"
      ).argParser(words)
    )
    .addOption(
      new Option("--tag <tag>", "what has this tag, or another that is named: again, or with commas").argParser(words)
    )
