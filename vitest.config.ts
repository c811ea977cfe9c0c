// The kinds of test, told apart by where a file stands and what it is called. Each is a step of `npm run check`,
// but for integration, which is `npm run test:integration`.

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
/** Real servers, or processes that are killed: much of their time is waiting. */
const fleet = [
  "packages/adapters/store-postgres/test/**/*.test.ts",
  "packages/adapters/queue-bullmq/test/**/*.test.ts",
  "packages/testkit/test/servers/**/*.test.ts",
  "packages/reverie/test/deployment.test.ts",
  "packages/reverie/test/moving/*.test.ts",
  "test/crash/*.test.ts"
]
/** Chromium, and the page as it is built. */
const page = ["apps/dashboard/test/**/*.test.ts"]
const others = [...files("**/*.test.ts"), "test/**/*.test.ts"]

const project = (name: string, include: ReadonlyArray<string>, exclude: ReadonlyArray<string> = []) => ({
  extends: true as const,
  test: { name, include: [...include], exclude: ["**/node_modules/**", ...exclude] }
})

export default defineConfig({
  test: {
    allowOnly: false,
    // Ends what hangs. It measures nothing: the machine that checks may be slow and busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      project("unit", others, [...property, ...laws, ...journey, ...architecture, ...integration, ...fleet, ...page]),
      project("page", page, property),
      project("fleet", fleet, [...property, ...laws]),
      project("property", property),
      project("laws", laws),
      project("journey", journey),
      project("architecture", architecture),
      project("integration", integration)
    ]
  }
})
