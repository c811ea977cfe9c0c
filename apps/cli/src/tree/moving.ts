// Moving: the part of the tree about exports, imports, backups and promotion.

import type { Command } from "commander"
import { branch, does, leaf, type Trunk } from "./leaf.ts"
import { dataOption, gathered, jsonOption, ownDataOption } from "./options.ts"

/** `export` and `import`, which stand at the root and beside the other commands about assistants. */
export const addMovingOf = (parent: Command, before: string, trunk: Trunk): void => {
  const leaving = leaf(parent, "export [ids...]", {
    kind: "other",
    says: "write assistants with all they have into a file, also beside a running fleet",
    example: `${before}export desk --out desk.jsonl`
  })
    .option("--all", "all assistants, with the prompts of their tenants", false)
    .option("--tenant <tenant>", "whose assistants; default when ids are named")
    .option("--out <file>", "the file; - is stdout", "-")
    .option("--force", "replace the file", false)
    .addOption(dataOption())
    .addOption(jsonOption())
    .option("--quiet", "show no progress", false)
  does(leaving, trunk, async (options, ids) => (await import("../commands/data/moving.ts")).exportTo(ids, options))
  const coming = leaf(parent, "import <file>", {
    kind: "change",
    says: "take in an export, or an agent file of Letta (.af)",
    example: `${before}import desk.jsonl --rename desk=front`
  })
    .option("--rename <old=new>", "under another id; again for another one", gathered, [])
    .option("--tenant <tenant>", "into this tenant")
    .option("--force", "go on though another move has not come to its end", false)
    .option("--fleet-out <file>", "of an agent file: write a fleet file that defines the assistant")
    .addOption(dataOption())
    .option("--quiet", "show no progress", false)
  does(coming, trunk, async (options, file) => (await import("../commands/data/moving.ts")).importFrom(file, options))
}

const addBackups = (root: Command, trunk: Trunk): void => {
  const making = leaf(root, "backup <dir>", {
    kind: "other",
    says: "copy a data directory while work goes on, and verify the copy",
    example: "backup backups/monday --data .reverie"
  })
    .option("--force", "replace a backup that is there; anything else is refused", false)
    .option("--with-keys", "of an encrypted directory: copy its data keys too, wrapped as they are", false)
    .option("--without-lost", "make it without older segments that are missing or damaged, and list them", false)
    .addOption(dataOption())
    .addOption(jsonOption())
  does(making, trunk, async (options, target) =>
    (await import("../commands/data/backup.ts")).makeBackup(target, options)
  )
  const restoring = leaf(root, "restore <dir>", {
    kind: "other",
    says: "put a backup back, after it was read whole and found undamaged",
    example: "restore backups/monday --data .reverie"
  })
    .option("--force", "put it in the place of what is there, which is kept beside it", false)
    .addOption(dataOption())
    .addOption(jsonOption())
  does(restoring, trunk, async (options, source) =>
    (await import("../commands/data/backup.ts")).putBack(source, options)
  )
}

const addVacuum = (root: Command, trunk: Trunk): void => {
  const vacuum = leaf(root, "vacuum", {
    kind: "order",
    says: "compress and delete what is due by retention, and give back the room it took",
    example: "vacuum --dry-run"
  })
  does(vacuum, trunk, async (options) => (await import("../commands/data/backup.ts")).vacuum(options, trunk.stop))
}

const addIndex = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const commands = () => import("../commands/data/memory-index.ts")
  const index = branch(root, "index", "the index of memories: how it is, its snapshots, and what it lacks")
  const status = leaf(index, "status", {
    kind: "look",
    says: "how the index is, what it holds, and how far it is behind what was committed",
    example: "index status",
    isDefault: true
  })
  does(status, trunk, async (options) => (await commands()).status(options, stop))
  const snapshots = leaf(index, "snapshots", {
    kind: "list",
    says: "list the snapshots of an index at a Qdrant server, the newest first",
    example: "index snapshots"
  })
  does(snapshots, trunk, async (options) => (await commands()).snapshots(options, stop))
  const snapshot = leaf(index, "snapshot", {
    kind: "order",
    says: "make a snapshot of an index at a Qdrant server, which keeps it",
    example: "index snapshot"
  })
  does(snapshot, trunk, async (options) => (await commands()).snapshot(options, stop))
  const restore = leaf(index, "restore <snapshot>", {
    kind: "order",
    says: "put a snapshot in the place of the index, and bring it up to the ledger",
    example: "index restore reverie-2-4711-2026-01-01-00-00-01.snapshot --yes"
  })
  does(restore, trunk, async (options, name) => (await commands()).restore(name, options, stop))
  const catchUp = leaf(index, "catch-up", {
    kind: "order",
    says: "bring the index of every assistant up to its ledger",
    example: "index catch-up"
  })
  does(catchUp, trunk, async (options) => (await commands()).catchUp(options, stop))
}

const addEncryption = (root: Command, trunk: Trunk): void => {
  const encrypting = leaf(root, "encrypt", {
    kind: "other",
    says: "encrypt a data directory that is in the clear; the key is in REVERIE_KEY or REVERIE_KEY_FILE",
    example: "encrypt --data .reverie"
  })
    .option("--without-lost", "go on without older segments that are missing or damaged, and list them", false)
    .addOption(dataOption())
    .addOption(jsonOption())
  does(encrypting, trunk, async (options) => (await import("../commands/data/encryption.ts")).encryptAll(options))
  const keys = root.command("keys").description("the keys of an encrypted data directory")
  const rotating = leaf(keys, "rotate", {
    kind: "other",
    says: "wrap the keys anew, under the key in REVERIE_NEW_KEY or REVERIE_NEW_KEY_FILE where one is set",
    example: "keys rotate --data .reverie"
  })
    .option(
      "--renew",
      "make new data keys too, and encrypt everything anew with them; backups of before can not be read with these",
      false
    )
    .option(
      "--without-lost",
      "with --renew: go on without older segments that are missing or damaged, and list them",
      false
    )
    .addOption(dataOption())
    .addOption(jsonOption())
  does(rotating, trunk, async (options) => (await import("../commands/data/encryption.ts")).rotate(options))
}

export const addMoving = (root: Command, trunk: Trunk): void => {
  addBackups(root, trunk)
  addVacuum(root, trunk)
  addIndex(root, trunk)
  addEncryption(root, trunk)
  addMovingOf(root, "", trunk)
  const promote = leaf(root, "promote", {
    kind: "other",
    says: "move all assistants of a data directory into the database of a deployment, or back",
    example: "promote --data .reverie --to postgres://reverie@localhost/reverie"
  })
    .addOption(ownDataOption())
    .option("--to <url>", "the database; DATABASE_URL when not said")
    .option("--back", "move out of the database into the data directory", false)
    .option("--reopen", "open a data directory again that was left, as it was then", false)
    .option("--force", "go on though another move has not come to its end", false)
    .addOption(jsonOption())
    .option("--quiet", "show no progress", false)
  does(promote, trunk, async (options) => (await import("../commands/data/moving.ts")).promote(options))
  const migrate = leaf(root, "migrate", {
    kind: "change",
    says: "migrate the store to this version, and report what was done",
    example: "migrate --data .reverie --dry-run"
  }).addOption(dataOption())
  does(migrate, trunk, async (options) => (await import("../commands/data/backup.ts")).migrate(options))
}
