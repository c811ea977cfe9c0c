import { assert, describe, it } from "@effect/vitest"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import { profileOf } from "../src/opening/profile.ts"

const withEnvironment = <A, E>(env: Readonly<Record<string, string>>, effect: Effect.Effect<A, E>) =>
  effect.pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: { ...env } })))

const servers = {
  DATABASE_URL: "postgres://me:s3cret@db.example:5433/fleet",
  REDIS_URL: "redis://:hidden@cache.example"
}

describe("what a fleet runs on", () => {
  it.effect("P1 a directory that is said is used, whatever the environment names", () =>
    Effect.gen(function* () {
      const { says, worker } = yield* withEnvironment(servers, profileOf({ data: "/somewhere" }))
      assert.strictEqual(says, "embedded in /somewhere")
      assert.strictEqual(worker.worker, "embedded")
    })
  )

  it.effect("nothing set means embedded, in the directory of the data store", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* withEnvironment({}, profileOf({}))).says, "embedded in .reverie")
    })
  )

  it.effect("D1 the environment's servers are named without user, password or path", () =>
    Effect.gen(function* () {
      const { says, worker } = yield* withEnvironment(servers, profileOf({}))
      assert.strictEqual(says, "reverie at db.example:5433, wake-ups through cache.example")
      assert.strictEqual(worker.idleMs, 0)
      assert.isUndefined(worker.worker)
    })
  )

  it.effect("D2 without Redis the wake-ups go through the database; what is said counts before the environment", () =>
    Effect.gen(function* () {
      const deployment = { database: "postgres://other.example/x", name: "quay" }
      const { says } = yield* withEnvironment(servers, profileOf({ deployment }))
      assert.strictEqual(says, "quay at other.example, wake-ups through the same")
    })
  )
})
