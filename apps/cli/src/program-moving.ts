// ProgramMoving: the part of the tree that is about moving.
// Owns the options of `export`, `import` and `promote`. Leaves the work to commands/moving.ts.

import { type Command, Option } from "commander"

const gathered = (value: string, before: ReadonlyArray<string>): ReadonlyArray<string> => [...before, value]

interface Shared {
  readonly dataOption: () => Option
  readonly ownDataOption: () => Option
  readonly jsonOption: () => Option
  readonly onExit: (exit: number) => void
}

export const addMoving = (root: Command, { dataOption, jsonOption, onExit, ownDataOption }: Shared): void => {
  const quiet = () => new Option("--quiet", "show no progress").default(false)
  root
    .command("export")
    .description("write assistants with all they have into a file, also beside a running fleet")
    .argument("[ids...]", "whom; everybody with --all")
    .option("--all", "everybody, with the prompts of their tenants", false)
    .option("--tenant <tenant>", "whose assistants; default when ids are named")
    .option("--out <file>", "the file; - is stdout", "-")
    .option("--force", "replace the file", false)
    .addOption(dataOption())
    .addOption(jsonOption())
    .addOption(quiet())
    .action(async (ids: ReadonlyArray<string>, options: object) => {
      onExit(await (await import("./commands/moving.ts")).exportTo(ids, options as never))
    })
  root
    .command("import")
    .description("take in an export, or an agent file of Letta (.af)")
    .argument("<file>")
    .option("--rename <old=new>", "under another id; again for another one", gathered, [])
    .option("--tenant <tenant>", "into this tenant")
    .option("--dry-run", "check and judge everything, write nothing", false)
    .option("--force", "go on though another move has not come to its end", false)
    .option("--fleet-out <file>", "of an agent file: write a fleet file that defines the assistant")
    .addOption(dataOption())
    .addOption(jsonOption())
    .addOption(quiet())
    .action(async (file: string, options: object) => {
      onExit(await (await import("./commands/moving.ts")).importFrom(file, options as never))
    })
  root
    .command("promote")
    .description("move everybody of a data directory into the database of a deployment, or back")
    .addOption(ownDataOption())
    .option("--to <url>", "the database; DATABASE_URL when not said")
    .option("--back", "move out of the database into the data directory", false)
    .option("--reopen", "open a data directory again that was left, as it was then", false)
    .option("--force", "go on though another move has not come to its end", false)
    .addOption(jsonOption())
    .addOption(quiet())
    .action(async (options: object) => {
      onExit(await (await import("./commands/moving.ts")).promote(options as never))
    })
}
