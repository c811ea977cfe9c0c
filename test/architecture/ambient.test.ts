import { describe, test } from "vitest"
import { ambientFaults, exemptions } from "./ambient.ts"
import { assertFinds, assertNone, examined, repository, plant } from "./planted.ts"

const faultsIn = (...lines: ReadonlyArray<string>) =>
  ambientFaults([plant("packages/runtime/src/planted.ts", ...lines)], [])

describe("no room touches the world", () => {
  test("A1 in every module outside adapters and apps", () => {
    assertNone(ambientFaults(examined(repository.modules, 150), exemptions))
  })

  test("A1 finds each touch, once", () => {
    const touches = {
      "const a = Date.now()": "Date.now",
      "const a = Date['now']()": "Date.now",
      "const a = new Date()": "new Date()",
      "const a = Date()": "new Date()",
      "const a = Math.random()": "Math.random",
      "setTimeout(() => 1, 2)": "setTimeout",
      "const a = [setInterval]": "setInterval",
      "const { a = setImmediate } = b": "setImmediate",
      "const a = crypto.randomUUID()": "crypto.randomUUID",
      "const a = process.env['HOME']": "process",
      "const a = globalThis.process": "globalThis.process",
      "const a = globalThis.fetch": "globalThis.fetch",
      "const a = { fetch }": "fetch",
      "const a = (fetch as unknown)": "fetch",
      "const a = performance.now()": "performance",
      "console.log(1)": "console",
      "export { console as a }": "console",
      "export class A { b = console }": "console",
      "const a = (b = process) => b": "process",
      "const a = () => { const g = globalThis; return g }": "globalThis",
      'import { randomUUID } from "node:crypto"': "randomUUID",
      'import { readFileSync } from "node:fs"': "node:fs",
      'import { setTimeout as later } from "node:timers/promises"': "node:timers/promises",
      'const a = import("node:fs")': "node:fs"
    }
    for (const [line, touch] of Object.entries(touches)) assertFinds(faultsIn(line), [`touches the world: ${touch}`])
  })

  test("A1 lets pass what only looks like a touch", () => {
    const innocents = [
      "// Date.now() and process.env",
      'const a = "console.log(Math.random())"',
      "const a = (now: number) => new Date(now).toISOString()",
      "const a = (b: { process: () => number }) => b.process()",
      "const a = (process: number) => process + 1",
      "const a = ({ fetch }: { fetch: () => void }) => () => fetch()",
      "const a = { console: 1, fetch: 2 }",
      "const setTimeout = () => 1\nexport const a = () => setTimeout()",
      "type A = typeof fetch",
      "interface A { readonly process: typeof globalThis }",
      'import type { ReadStream } from "node:fs"',
      'import { createHash } from "node:crypto"',
      "const a = Math.max(1, 2)",
      "const a = 1\nexport { a as process }",
      'export { fetch } from "./a.ts"',
      "try { a() } catch (process) { b(process) }"
    ]
    for (const line of innocents) assertNone(faultsIn(line))
  })

  test("A1 a local name hides the world only where it holds", () => {
    assertFinds(faultsIn("const a = (fetch: () => void) => fetch()", "const b = () => fetch()"), [":2"])
    assertFinds(faultsIn("const a = (...dates: ReadonlyArray<Date>) => dates.length + Date.now()"), ["Date.now"])
  })

  test("A1 adapters and apps may", () => {
    assertNone(ambientFaults([plant("packages/adapters/tokens/src/planted.ts", "console.log(Date.now())")], []))
    assertNone(ambientFaults([plant("apps/cli/src/planted.ts", "console.log(Date.now())")], []))
  })

  test("A2 an exemption covers its folder, and no one keeps one without need", () => {
    const touching = plant("packages/runtime/src/planted.ts", "console.log(1)")
    const covering = { folder: "packages/runtime/src/", why: "planted" }
    assertNone(ambientFaults([touching], [covering]))
    const idle = { folder: "packages/ledger/src/", why: "planted" }
    assertFinds(ambientFaults([touching], [covering, idle]), ["packages/ledger/src/ touches nothing any more"])
  })
})
