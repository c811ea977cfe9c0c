import { assert, describe, test } from "vitest"
import { filesOfRepository, moduleOf, readText } from "./repository.ts"
import * as Manners from "./manners.ts"
import { assertFinds, assertNone, examined, repository, plant } from "./planted.ts"

const inPackages = repository.modules.filter(({ path }) => path.startsWith("packages/"))

describe("heads", () => {
  test("N1 on every module of every package", () => {
    assertNone(Manners.headFaults(examined(inPackages, 130)))
  })

  test("N1 finds a missing head, and asks none of index, errors and main", () => {
    const bare = ["runtime/src/host.ts", "runtime/src/index.ts", "runtime/src/errors.ts", "testkit/src/x/main.ts"]
    const faults = Manners.headFaults(bare.map((path) => plant(`packages/${path}`, `export const a = 1`)))
    assertFinds(faults, ["packages/runtime/src/host.ts does not say first what it owns"])
    const late = plant("packages/runtime/src/late.ts", `import "effect/Effect"`, "// Late: owns nothing.")
    assertFinds(Manners.headFaults([late]), ["late.ts"])
    assertNone(Manners.headFaults([plant("packages/runtime/src/worker/host.ts", "// Host: owns the repository.")]))
  })

  test("N1 no invariant is called as a row is", () => {
    assertNone(Manners.rowNameFaults(examined(repository.modules, 300)))
    const named = plant("packages/runtime/src/worker/host.ts", "// Host: owns the repository.\n// F1  It stands.")
    assertFinds(Manners.rowNameFaults([named]), ["host.ts calls an invariant F and a number"])
  })
})

describe("names", () => {
  test("N2 of every file and every folder", () => {
    assertNone(Manners.nameFaults(examined(filesOfRepository(), 250)))
  })

  test("N2 of every class, function, constant and type", () => {
    assertNone(Manners.shapeFaults(examined(repository.modules, 150)))
  })

  test("N2 finds empty names of files and folders", () => {
    const wrong = [
      "packages/utils/src/a.ts",
      "packages/a/src/common/b.ts",
      "packages/a/src/shared.ts",
      "packages/core/package.json",
      "packages/a/test/helpers.ts",
      "packages/a/src/interfaces/b.ts",
      "packages/a/src/session-manager.ts",
      "packages/a/src/mailbox-impl.ts",
      "packages/a/src/clock-helper.test.ts",
      "packages/a/src/hostName.ts"
    ]
    assertFinds(Manners.nameFaults(wrong), wrong)
  })

  test("N2 finds no fault in nouns", () => {
    assertNone(
      Manners.nameFaults(["packages/a/src/hard-core-score.ts", "packages/a/test/mailbox.laws.test.ts", ".ci/run"])
    )
  })

  test("N2 finds what is named after its shape", () => {
    const module = plant(
      "packages/runtime/src/planted.ts",
      "class FleetManager {}",
      "interface ClockImpl {}",
      "const timeHelper = 1",
      "function stringUtils() {}",
      "type Manager = string"
    )
    assertFinds(Manners.shapeFaults([module]), [":1 FleetManager", ":2 ClockImpl", ":3 timeHelper", ":4 stringUtils"])
  })
})

describe("sizes", () => {
  test("N3 of every file of code", () => {
    const paths = examined(filesOfRepository("*.ts", "*.tsx", "*.mjs"), 200)
    assertNone(Manners.sizeFaults(paths.map((path) => ({ path, text: readText(path) }))))
  })

  test("N3 of the root", () => {
    assertNone(Manners.rootFaults(examined(filesOfRepository(), 250)))
  })

  test("N3 finds a file of 401 lines, not one of 400", () => {
    const file = (lines: number) => ({ path: `${lines}.ts`, text: "a\n".repeat(lines) })
    assertFinds(Manners.sizeFaults([file(400), file(401), { path: "open.ts", text: `${"a\n".repeat(400)}a` }]), [
      "401.ts 401 lines",
      "open.ts 401 lines"
    ])
  })

  test("N3 finds the 21st entry of the root, not the 20th", () => {
    const entries = (count: number) => Array.from({ length: count }, (_, index) => `${index}/a.ts`)
    assertNone(Manners.rootFaults([...entries(20), "1/b.ts"]))
    assertFinds(Manners.rootFaults(entries(21)), ["21 entries"])
  })
})

describe("the repository itself", () => {
  test("H1 a module that does not parse is reported, not passed over", () => {
    assert.throws(() => moduleOf("packages/runtime/src/planted.ts", "const = 1"), /does not parse/)
  })
})
