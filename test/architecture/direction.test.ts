import { assert, describe, test } from "vitest"
import { directionFaults, rankOf } from "./direction.ts"
import { assertFinds, assertNone, examined, repository, plant } from "./planted.ts"

const faultsIn = (path: string, ...lines: ReadonlyArray<string>) => directionFaults(repository, [plant(path, ...lines)])

describe("imports run downhill", () => {
  test("D1-D4 in every module of every room", () => {
    assertNone(directionFaults(repository, examined(repository.modules, 150)))
  })

  test("D1 every room has a rank", () => {
    const placeless = examined(repository.rooms, 15).filter(({ folder }) => rankOf(folder) === undefined)
    assert.deepStrictEqual(placeless, [])
  })

  test("D1 finds each form of an import uphill", () => {
    const faults = faultsIn(
      "packages/ledger/src/planted.ts",
      `import { run } from "@reverie/runtime"`,
      `import type { Run } from "@reverie/runtime"`,
      `export * from "@reverie/runtime"`,
      `export { run as go } from "@reverie/runtime"`,
      `const later = import("@reverie/runtime")`,
      `type Later = import("@reverie/runtime").Run`,
      `const now = require("@reverie/runtime/deep")`
    )
    assertFinds(
      faults,
      [1, 2, 3, 4, 5, 6, 7].map((line) => `planted.ts:${line} packages/ledger (1) imports packages/runtime (3): uphill`)
    )
  })

  test("D1 finds an import sideways", () => {
    assertFinds(faultsIn("packages/ledger/src/planted.ts", `import "@reverie/mailbox"`), ["sideways"])
    assertFinds(faultsIn("packages/reverie/src/planted.ts", `import "@reverie/testkit"`), ["sideways"])
  })

  test("D1 finds a room without a rank, and a name without a room", () => {
    assertFinds(faultsIn("packages/attic/src/planted.ts", `import "@reverie/protocol"`), ["packages/attic has no rank"])
    assertFinds(faultsIn("packages/ledger/src/planted.ts", `import "@reverie/attic"`), ["which is no room"])
  })

  test("D2 finds an adapter that imports another, or more than a port", () => {
    const path = "packages/adapters/queue-local/src/planted.ts"
    assertFinds(faultsIn(path, `import "@reverie/store-sqlite"`), ["sideways"])
    assertFinds(faultsIn(path, `import "@reverie/runtime"`), ["no port of its own"])
    assertNone(faultsIn(path, `import "@reverie/mailbox"`))
    assertNone(faultsIn(path, `import "@reverie/context"`))
    assertNone(faultsIn(path, `import "@reverie/tools"`))
  })

  test("D3 finds xstate outside assistant, and the barrel of effect", () => {
    assertFinds(faultsIn("packages/runtime/src/planted.ts", `import { createActor } from "xstate"`), ["only assistant"])
    assertFinds(faultsIn("packages/runtime/src/planted.ts", `import { getShortestPaths } from "xstate/graph"`), [
      "only"
    ])
    assertFinds(faultsIn("packages/runtime/src/planted.ts", `import { Effect } from "effect"`), ["barrel"])
    assertNone(faultsIn("packages/assistant/src/planted.ts", `import { setup } from "xstate"`))
    assertNone(faultsIn("packages/runtime/src/planted.ts", `import * as Effect from "effect/Effect"`))
  })

  test("D4 finds an import that leaves its room or is computed", () => {
    const path = "packages/runtime/src/planted.ts"
    assertFinds(faultsIn(path, `import "../../ledger/src/index.ts"`), ["leaves its room"])
    assertFinds(faultsIn(path, `const some = (name: string) => import(name)`), ["computes"])
    assertNone(faultsIn(path, `import "./host.ts"`))
    assertNone(faultsIn("apps/cli/src/planted.ts", `const some = (name: string) => import(name)`))
  })
})
