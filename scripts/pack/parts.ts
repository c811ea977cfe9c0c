// Parts: what the package `reverie` consists of.
// Owns the one list of entry points, of files that are started by their URL, of folders and of optional peers.
// Leaves bundling to bundle.ts, and the folder that is published to ../pack.ts.
// P1  A file that is started by its URL (a thread, a child process) stands here: the build refuses one that does not.

export interface Entry {
  /** From the root of the repository. */
  readonly source: string
  /** The subpath under which programs import it. Without one it is started by its URL, or by `bin`. */
  readonly subpath?: `.${string}`
}

/** By the name of the file that each becomes in `lib/`. A new subpath, say `./testing`, is a new line here. */
export const entries: Readonly<Record<string, Entry>> = {
  index: { source: "packages/reverie/src/index.ts", subpath: "." },
  testing: { source: "packages/reverie/src/testing/index.ts", subpath: "./testing" },
  cli: { source: "apps/cli/src/main.ts" },
  server: { source: "apps/server/src/fetch.ts", subpath: "./server" },
  "isolated-run": { source: "packages/adapters/run-place/src/child/main.ts" },
  watchdog: { source: "packages/adapters/run-place/src/child/watchdog.ts" },
  "search-thread": { source: "packages/adapters/recall-sqlite/src/search/search-thread.ts" },
  "postgres-search-thread": { source: "packages/adapters/recall-postgres/src/search-thread.ts" },
  "elk-thread": { source: "apps/server/src/layout/elk-thread.ts" },
  "harbor/fleet": { source: "examples/harbor/fleet.ts" }
}

/** Where a file or folder of the repository lies in the package, seen from `lib/`. A folder ends with a slash. */
export const places: Readonly<Record<string, string>> = {
  "apps/cli/package.json": "../package.json",
  "apps/dashboard/": "../page/",
  "examples/harbor/": "./harbor/"
}

/** Files that are copied as they are. */
export const copies: Readonly<Record<string, string>> = {
  LICENSE: "LICENSE",
  "packages/reverie/SKILL.md": "skills/reverie/SKILL.md",
  "apps/dashboard/context.png": "docs/context.png",
  "packages/assistant/machine.json": "lib/machine.json",
  "examples/harbor/day.jsonl": "lib/harbor/day.jsonl",
  "node_modules/loro-crdt/nodejs/loro_wasm_bg.wasm": "lib/loro_wasm_bg.wasm"
}

/** Installed by who uses them; each with the manifest that says which version is meant. */
export const optionalPeers: Readonly<Record<string, string>> = {
  "@huggingface/transformers": "packages/adapters/model-onnx",
  "@modelcontextprotocol/client": "packages/adapters/mcp",
  "@modelcontextprotocol/server": "apps/server",
  "@qdrant/js-client-rest": "packages/adapters/recall-qdrant",
  bullmq: "packages/adapters/queue-bullmq",
  ioredis: "packages/adapters/queue-bullmq",
  "js-tiktoken": "packages/adapters/tokens",
  pg: "packages/adapters/queue-bullmq"
}

/** The oldest Node that has node:sqlite without a flag. */
export const OLDEST_NODE = "22.13.0"
