import { assert, describe, test } from "vitest"
import { outcomeOf, servers, type Sight } from "../../scripts/check/servers.ts"

const redis: Sight = { server: "redis", clause: "redis 7 of this machine", isThere: true }
const noPostgres: Sight = { server: "postgres", clause: "no postgres (none is here)", isThere: false }
const noQdrant: Sight = { server: "qdrant", clause: "no qdrant (none is here)", isThere: false }

describe("the servers of a check", () => {
  test("each is named, there or not", () => {
    assert.strictEqual(
      outcomeOf([redis, noPostgres], false).remark,
      "redis 7 of this machine; no postgres (none is here)"
    )
  })

  test("R1 one that does not start is a failure, in CI and elsewhere", () => {
    const sick = { ...redis, fault: "it did not start" }
    for (const isCi of [true, false]) {
      const { ok, output } = outcomeOf([sick], isCi)
      assert.deepStrictEqual([ok, output], [false, "it did not start"])
    }
  })

  test("R2 a missing Redis or PostgreSQL is a failure in CI only, a missing Qdrant nowhere", () => {
    assert.isTrue(outcomeOf([redis, noPostgres, noQdrant], false).ok)
    assert.isTrue(outcomeOf([redis, noQdrant], true).ok)
    const { ok, output } = outcomeOf([redis, noPostgres], true)
    assert.isFalse(ok)
    assert.include(output, "no postgres (none is here)")
  })

  test("those of this machine start and answer", async () => {
    const { count, output } = await servers.prove()
    assert.strictEqual(count, 3)
    assert.notMatch(output, /failed/)
  })
})
