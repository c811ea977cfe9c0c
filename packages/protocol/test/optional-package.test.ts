import { assert, describe, test } from "vitest"
import { loadWith, PackageMissing } from "../src/index.ts"

const absent = (name: string) => () => import(name)
const caught = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error
  )

describe("optional package", () => {
  test("O1 a package that is not installed is named with the one command that installs it", async () => {
    // What Node says; the loader of the tests says it in other words.
    const load = () =>
      Promise.reject(
        Object.assign(new Error("Cannot find package 'pg' imported from x"), { code: "ERR_MODULE_NOT_FOUND" })
      )
    const error = await caught(loadWith("Redis", ["bullmq", "pg"], load))
    assert(error instanceof PackageMissing)
    assert.strictEqual(error.message, "Redis needs a package that is not installed: npm i bullmq pg")
  })

  test("O1 any other failure to load stays what it was", async () => {
    assert.notInstanceOf(await caught(loadWith("Redis", ["pg"], absent("node:no-such-module"))), PackageMissing)
    const broken = new Error("Cannot find package 'other'")
    assert.strictEqual(await caught(loadWith("Redis", ["pg"], () => Promise.reject(broken))), broken)
  })
})
