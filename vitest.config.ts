// The kinds of test, told apart by where a file stands and what it is called. Each is a step of `npm run check`,
// but for integration, which is `npm run test:integration`. Files of `slow` are left to `npm run check -- --long`.

import { defineConfig } from "vitest/config"

const files = (folder: string) => [
  `packages/*/test/${folder}`,
  `packages/adapters/*/test/${folder}`,
  `apps/*/test/${folder}`,
  `examples/*/test/${folder}`
]
const property = [...files("**/*.property.test.ts"), "test/property/**/*.test.ts"]
const laws = [...files("**/*.laws.test.ts"), "test/laws/**/*.test.ts"]
const journey = ["test/journey/**/*.test.ts"]
const architecture = ["test/architecture/**/*.test.ts"]
const integration = ["test/integration/**/*.test.ts"]
/** What needs a worker of its own: it stands in the place of a module, or is read the environment of, which a process reads once. */
const alone = [
  "packages/ledger/test/read-for-now.test.ts",
  "packages/runtime/test/poison.test.ts",
  "apps/cli/test/memory-index.test.ts"
]
/** Real servers, or processes that are killed: much of their time is waiting. */
const fleet = [
  "packages/adapters/store-postgres/test/**/*.test.ts",
  "packages/adapters/recall-postgres/test/**/*.test.ts",
  "packages/adapters/queue-bullmq/test/**/*.test.ts",
  "packages/adapters/run-place/test/**/*.test.ts",
  "packages/testkit/test/servers/**/*.test.ts",
  "packages/reverie/test/deployment.test.ts",
  "packages/reverie/test/forgetting-postgres.test.ts",
  "packages/reverie/test/moving/*.test.ts",
  "test/crash/*.test.ts"
]
/** Chromium, and the page as it is built. */
const page = ["apps/dashboard/test/**/*.test.ts"]
/** The command line, servers of others, long lives. */
const whole = [
  "apps/cli/test/**/*.test.ts",
  "packages/create-reverie/test/**/*.test.ts",
  "packages/adapters/mcp/test/**/*.test.ts",
  "packages/reverie/test/trace-export.test.ts",
  "examples/*/test/**/*.test.ts",
  "test/{night,real-input,replay}/**/*.test.ts",
  "test/tooling/reference.test.ts"
]
/**
 * Each takes long: processes that are started or killed, every misbehaving server, every page in both themes. The more
 * important half of what they are about is proved by files that stay; the rest by a long check alone.
 */
const slow = [
  "apps/dashboard/test/{build,context,everywhere,fork,left-open,looks,nights,said,trace,usage}.test.ts",
  "apps/dashboard/test/walk/{numbers,questions}.test.ts",
  "apps/cli/test/{attach,encryption,mcp,streams,usage}.test.ts",
  "packages/create-reverie/test/create.test.ts",
  "packages/adapters/mcp/test/{everything,hostile}.test.ts",
  "packages/adapters/model-openai/test/hostile-server.test.ts",
  "packages/reverie/test/models/hostile.test.ts",
  "packages/reverie/test/{checkpoints,environment,strays,trace-export}.test.ts",
  "packages/reverie/test/moving/crash.test.ts",
  "test/crash/{fleet,months,night}.test.ts"
]
const left = process.env["REVERIE_LENGTH"] === "short" ? slow : []
const others = [...files("**/*.test.ts"), "test/**/*.test.ts"]

interface Kind {
  readonly include: ReadonlyArray<string>
  readonly exclude?: ReadonlyArray<string>
  /** A worker for each file. It costs a second a file, and is for files that leave something behind in theirs. */
  readonly isolate?: boolean
  /** Ends what hangs, where it is processes that take their time on a busy machine. */
  readonly testTimeout?: number
  /** How many files at once; what waits for processes and clocks leaves the core to others. */
  readonly maxWorkers?: number
}

/** Projects of as many workers run side by side, others after them: Vitest refuses to mix them. */
const project = (name: string, { exclude = [], include, isolate = false, maxWorkers, testTimeout = 60_000 }: Kind) => ({
  extends: true as const,
  test: {
    name,
    include: [...include],
    exclude: ["**/node_modules/**", ...left, ...exclude],
    isolate,
    testTimeout,
    ...(maxWorkers === undefined ? {} : { maxWorkers, sequence: { groupOrder: maxWorkers } })
  }
})

export default defineConfig({
  test: {
    allowOnly: false,
    // Ends what hangs. It measures nothing: the machine that checks may be slow and busy.
    hookTimeout: 60_000,
    setupFiles: ["./test/tidy.ts"],
    projects: [
      project("unit", {
        include: others,
        exclude: [
          ...property,
          ...laws,
          ...journey,
          ...architecture,
          ...integration,
          ...alone,
          ...fleet,
          ...page,
          ...whole
        ],
        maxWorkers: 2
      }),
      project("whole", { include: whole, exclude: [...property, ...alone], maxWorkers: 2, testTimeout: 120_000 }),
      project("page", { include: page, exclude: property, maxWorkers: 2 }),
      project("fleet", { include: fleet, exclude: [...property, ...laws], maxWorkers: 2 }),
      project("alone", { include: alone, isolate: true, maxWorkers: 2 }),
      project("property", { include: property, maxWorkers: 2 }),
      project("laws", { include: laws, maxWorkers: 2 }),
      project("journey", { include: journey }),
      project("architecture", { include: architecture }),
      project("integration", { include: integration, isolate: true })
    ]
  }
})
