import { describe, test } from "vitest"
import { assertFinds, assertNone, examined, plant, repository } from "./planted.ts"
import { sessionFieldFaults, sessionFields, sessionWriteFaults } from "./session.ts"

const inRuntime = repository.modules.filter(({ path }) => path.startsWith("packages/runtime/src/"))
const homes = inRuntime.filter(({ path }) => path === "packages/runtime/src/session/session.ts")

describe("a session is changed in session.ts", () => {
  test("S1 every field of it is readonly", () => {
    examined(homes.flatMap(sessionFields), 20)
    assertNone(homes.flatMap(sessionFieldFaults))
  })

  test("S1 finds a field that is not", () => {
    const home = plant("packages/runtime/src/session/session.ts", "export interface Session { readonly a: 1; b: 2 }")
    assertFinds(sessionFieldFaults(home), ["b of a session is not readonly"])
  })

  test("S2 nothing else in the runtime writes to one", () => {
    assertNone(sessionWriteFaults(examined(inRuntime, 60)))
  })

  test("S2 finds each way to write to one", () => {
    const ways = [
      "session.jobs = []",
      "session.version += 1",
      "session.version++",
      "host.session.jobs = []",
      "(session as { jobs: ReadonlyArray<string> }).jobs = []",
      "session!.jobs = []",
      "session['jobs'] = []",
      "[session.jobs] = [[]]",
      "({ jobs: session.jobs } = state)",
      "delete session.jobs",
      "Object.assign(session, { jobs: [] })"
    ]
    for (const way of ways) {
      assertFinds(sessionWriteFaults([plant("packages/runtime/src/planted.ts", way)]), ["changes a session"])
    }
  })

  test("S2 lets session.ts write, and others read", () => {
    assertNone(sessionWriteFaults([plant("packages/runtime/src/session/session.ts", "session.jobs = []")]))
    const reads = ["const { jobs } = session", "leaseSession.session = session", "const a = session.version === 1"]
    assertNone(sessionWriteFaults([plant("packages/runtime/src/planted.ts", ...reads)]))
  })
})
