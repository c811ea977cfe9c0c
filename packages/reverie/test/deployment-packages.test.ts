// Which packages a fleet of many processes asks for.

import { execFileSync } from "node:child_process"
import { assert, describe, test } from "vitest"

/** What opening says where these packages are not installed. */
const saidWithout = (absent: ReadonlyArray<string>, deployment: object): string => {
  const program = `
    import { registerHooks } from "node:module"
    const absent = ${JSON.stringify(absent)}
    registerHooks({
      resolve: (name, context, next) => {
        if (!absent.includes(name)) return next(name, context)
        throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" })
      }
    })
    const { defineAssistant, defineFleet, Fleet } = await import(${JSON.stringify(new URL("../src/index.ts", import.meta.url))})
    const fleet = defineFleet({ assistants: [defineAssistant({ id: "desk", instructions: "p" })] })
    const deployment = ${JSON.stringify(deployment)}
    const opened = Fleet.open({ fleet, deployment, model: "offline" })
    console.log(await opened.then(() => "opened", (error) => error._tag + ": " + error.message))
    process.exit()
  `
  return execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" })
}

const database = "postgres://nobody@127.0.0.1:1/none"

describe("a deployment", () => {
  test("O1 asks for the packages of its servers alone, each time for all of them, before any server is asked", () => {
    const needs = (packages: string) =>
      `PackageMissing: a deployment needs a package that is not installed: npm i ${packages}\n`
    assert.strictEqual(saidWithout(["bullmq", "ioredis"], { database }), needs("bullmq pg"))
    const redis = "redis://127.0.0.1:1"
    assert.strictEqual(saidWithout(["ioredis"], { database, redis }), needs("bullmq ioredis pg"))
    assert.notInclude(saidWithout(["ioredis"], { database: "none" }), "PackageMissing")
  })
})
