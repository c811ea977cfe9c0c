import { describe, test } from "vitest"
import { undeclaredImports, unknownRooms } from "./manifests.ts"
import { assertFinds, assertNone, examined, repository, plant } from "./planted.ts"

describe("what a room imports, its package.json declares", () => {
  test("M1 in every module of every room", () => {
    assertNone(undeclaredImports(repository, examined(repository.modules, 150)))
  })

  test("M2 in every manifest", () => {
    examined(repository.rooms, 15)
    assertNone(unknownRooms(repository))
  })

  test("M1 finds a package that is not declared, deep or shallow, and lets the declared pass", () => {
    const module = plant(
      "packages/ledger/src/planted.ts",
      `import "xstate/graph"`,
      `import type { Model } from "@reverie/model"`,
      `import "effect/Effect"`,
      `import "@reverie/protocol"`,
      `import "node:crypto"`
    )
    assertFinds(undeclaredImports(repository, [module]), [":1 xstate is not in", ":2 @reverie/model is not in"])
  })

  test("M1 what is loaded only when it is chosen may be no dependency of those who run a clone", () => {
    const chosen = { folder: "packages/planted", name: "@reverie/planted", dependencies: [], chosen: ["xstate"] }
    const module = plant("packages/planted/src/a.ts", `import "xstate"`, `await import("xstate")`)
    assertFinds(undeclaredImports({ modules: [], rooms: [chosen] }, [module]), [":1 xstate is not in"])
  })

  test("M2 finds a declared room that does not exist", () => {
    const attic = { folder: "packages/planted", name: "@reverie/planted", dependencies: ["@reverie/attic", "effect"] }
    assertFinds(unknownRooms({ modules: [], rooms: [attic] }), ["declares @reverie/attic"])
  })
})
