// Surface: what a program imports is documented, its errors can be caught by class, and its examples compile.
// Owns finding texts in the sources. Leaves compiling the examples to the types of the whole repository: they lie in
// fixtures/doc-examples.ts, which `UPDATE_EXAMPLES=1 npx vitest run packages/reverie/test/surface.test.ts` writes.

import { globSync, readFileSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as reverie from "../src/index.ts"
import * as testing from "../src/testing/index.ts"
import { examples as checked } from "./fixtures/doc-examples.ts"

const root = join(import.meta.dirname, "../../..")
const paths = globSync(["packages/*/src/**/*.ts", "packages/adapters/*/src/**/*.ts", "apps/server/src/**/*.ts"], {
  cwd: root
})
  .filter((path) => !path.startsWith("packages/testkit/"))
  .toSorted()
const sources = new Map(paths.map((path) => [path, readFileSync(join(root, path), "utf8")]))

/** Errors that stay inside, and what a user sees of them instead. */
const inside: Readonly<Record<string, string>> = {
  BlobRefused: "an EnvelopeInvalid says it before",
  CallLimited: "the tick waits",
  CallOverLimit: "a part of the answer has its name as code",
  CallWithheld: "the tick waits",
  ClaimHeld: "the worker tries another assistant",
  CommitFenced: "the worker drops its session",
  ConsentNeeded: "the model reads it",
  ContextTooSmall: "a part of the answer has its name as code",
  EgressRefused: "the reason of an McpUnavailable",
  EmbeddingUnfit: "recall says degraded",
  IsolatedRunFailed: "the model reads it",
  LeaseLost: "the worker drops its session",
  McpCallFailed: "the model reads it",
  ModelParked: "the tick waits",
  QueueSilent: "the store gives the wake-up again",
  SleepScheduleRefused: "the night is in the store",
  SnapshotUnfit: "the reason of a StateUnreadable",
  VectorsUnfit: "recall says degraded",
  SegmentLost: "an UnreadableRecord has its sentence",
  SegmentPlaceUnavailable: "a LedgerUnavailable has its sentence"
}

const errorNames = [...sources].flatMap(([path, text]) =>
  path.startsWith("apps/")
    ? []
    : [...text.matchAll(/^export class (\w+) extends Schema\.TaggedError</gm)].map(([, name = ""]) => name)
)

const exported: Readonly<Record<string, unknown>> = { ...testing, ...reverie }

/** The text above each declared name; where several have one name, that of one with a text. */
const texts = new Map<string, string>()
for (const text of sources.values()) {
  const declared =
    /(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\nexport (?:const|class|interface|type|(?:async )?function\*?) (\w+)/g
  for (const [, above = "", name = ""] of text.matchAll(declared)) texts.set(name, above)
}
const documented = (name: string): string | undefined => texts.get(name)

const namesIn = (path: string): ReadonlyArray<string> => {
  const text = readFileSync(join(root, path), "utf8")
  const named = [...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, list = ""]) => list.split(","))
  return named
    .map((each) =>
      each
        .trim()
        .replace(/^type /, "")
        .replace(/ as .*$/, "")
    )
    .filter((name) => name !== "")
}

/** Members of a declared type or class that have no text; an overload has that of the first. */
const bareMembers = (path: string, name: string): ReadonlyArray<string> => {
  const text = sources.get(path) ?? ""
  const start = new RegExp(`^(?:export )?(?:abstract )?(?:class|interface) ${name}\\b`, "m").exec(text)?.index
  if (start === undefined) return [`${name} is not in ${path}`]
  const lines = text.slice(start, text.indexOf("\n}\n", start)).split("\n")
  let before = ""
  return lines.flatMap((line, index) => {
    const [, member = ""] = /^ {2}(?:readonly |static |async |get )*(\[Symbol\.\w+\]|[a-z]\w*)\??[:(<]/.exec(line) ?? []
    if (member === "" || member === "constructor" || member === before || /^ {2}private /.test(line)) return []
    before = member
    return (lines[index - 1] ?? "").trimEnd().endsWith("*/") ? [] : [`${name}.${member}`]
  })
}

const S = "packages/reverie/src"
/** The folder that a specifier of a barrel leads to, or the one file. */
const placeOf = (barrel: string, from: string): string => {
  if (from.startsWith(".")) return join(dirname(barrel), from)
  const [, name = "", door] = /^@reverie\/([\w-]+)(?:\/(.+))?$/.exec(from) ?? []
  const folder = sources.has(`packages/${name}/src/index.ts`) ? `packages/${name}/src` : `packages/adapters/${name}/src`
  return door === undefined || !sources.has(`${folder}/${door}.ts`) ? folder : `${folder}/${door}.ts`
}

const declares = (text: string, name: string): boolean =>
  new RegExp(`^export (?:abstract )?(?:class|interface) ${name}\\b(?! extends (?:Schema|Context)\\.)`, "m").test(text)

/** Where the interfaces and classes are declared that a barrel shows. Errors have a test of their own. */
const shownBy = (barrel: string): ReadonlyArray<readonly [path: string, name: string]> =>
  [
    ...readFileSync(join(root, barrel), "utf8").matchAll(/^export (?:type )?(?:\{([^}]*)\}|\*) from "([^"]+)"/gm)
  ].flatMap(([, list = "", from = ""]) => {
    const place = placeOf(barrel, from)
    const names = list
      .split(",")
      .map((each) => each.trim().replace(/^type |\s+as .*$/g, ""))
      .filter((name) => name !== "")
    const within = [...sources].filter(([path]) => path === place || path.startsWith(`${place}/`))
    return names.flatMap((name) =>
      within.flatMap(([path, text]) => (declares(text, name) ? [[path, name] as const] : []))
    )
  })

const barrels = ["index.ts", "testing/index.ts"].map((file) => `${S}/${file}`)

/** What is shown as a part of others, under no name of its own. */
const within: ReadonlyArray<readonly [path: string, name: string]> = [
  [`${S}/fleet.ts`, "Fleet"],
  [`${S}/views/peek.ts`, "FleetReader"],
  [`${S}/opening/profile.ts`, "ProfileOptions"],
  [`${S}/options/sub-agents.ts`, "SpendingOptions"],
  ["packages/assistant/src/reminders/occurrences.ts", "Times"],
  ["packages/assistant/src/reminders/occurrences.ts", "QuietHours"],
  ["packages/context/src/prompt/components.ts", "Components"],
  ["packages/context/src/prompt/registry.ts", "Bridge"],
  ["packages/context/src/prompt/registry.ts", "Undo"],
  ["packages/context/src/prompt/templates.ts", "Templates"],
  ["packages/context/src/report.ts", "Report"],
  ["packages/memory/src/blocks/block-store.ts", "KeptBlock"],
  ["packages/protocol/src/mail/envelope.ts", "Usage"],
  ["apps/server/src/fetch.ts", "Authorized"],
  ["apps/server/src/fetch.ts", "FetchHandler"],
  ["apps/server/src/fetch.ts", "FetchOptions"],
  ["apps/server/src/http/guard.ts", "Token"]
]
const types = [...barrels.flatMap(shownBy), ...within]

describe("the surface of the SDK", () => {
  it("every error that reaches a user is exported, with how to go on, a text and an example", () => {
    assert.isAbove(errorNames.length, 60)
    const isInside = (name: string) => Object.hasOwn(inside, name)
    assert.deepStrictEqual(
      errorNames.filter((name) => !isInside(name) && exported[name] === undefined),
      []
    )
    assert.deepStrictEqual(
      Object.keys(inside).filter((name) => !errorNames.includes(name) || name in exported),
      []
    )
    const outside = errorNames.filter((name) => !isInside(name))
    for (const name of outside) {
      assert.match(documented(name) ?? "", /@example/, `${name} has no example`)
      const declared = [...sources.values()].find((text) => text.includes(`export class ${name} extends`)) ?? ""
      const body = declared.slice(declared.indexOf(`export class ${name} extends`)).split("\n}\n")[0] ?? ""
      assert.match(body, /\brecovery\b/, `${name} does not say how to go on`)
    }
  })

  it("every name has a text", () => {
    const names = barrels.flatMap(namesIn)
    assert.isAbove(names.length, 200)
    const known = names.filter((name) => name !== "chartOf")
    assert.deepStrictEqual(
      known.filter((name) => documented(name) === undefined),
      []
    )
  })

  it("types that a program writes down to fill in an option or to hold an answer can be imported", () => {
    const wanted =
      "MemoryEntry SearchMode Sayings ReminderRule AssignmentRequest AssignmentReport Done DecisionOptions CompactionConfig Listening"
    const names = namesIn(barrels[0] ?? "")
    assert.deepStrictEqual(
      wanted.split(" ").filter((name) => !names.includes(name)),
      []
    )
  })

  it("every member of every type has a text", () => {
    assert.isAbove(types.length, 200)
    assert.deepStrictEqual(
      types.flatMap(([path, name]) => bareMembers(path, name)),
      []
    )
    // The search itself finds what is bare.
    assert.deepStrictEqual(bareMembers(`${S}/stream/parts.ts`, "About"), ["About.envelope", "About.isTeam"])
  })

  it("the examples are those that the types are checked of", () => {
    const examples = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/@example\s?([\s\S]*?)(?=\n\s*\* @|\*\/)/g)].map(([, code = ""]) => ({
        path,
        code: code.replaceAll(/^[ \t]*\* ?/gm, "").trim()
      }))
    )
    const shown = examples.filter(({ path }) => isPublic(path))
    assert.isAbove(shown.length, 60)
    assert.isFunction(checked)
    const file = join(import.meta.dirname, "fixtures/doc-examples.ts")
    const wanted = exampleFile(shown)
    if (process.env["UPDATE_EXAMPLES"] !== undefined) writeFileSync(file, wanted)
    assert.strictEqual(bare(readFileSync(file, "utf8")), bare(wanted))
  })
})

const isPublic = (path: string): boolean =>
  (path.startsWith(S) && !path.startsWith(`${S}/testing/`)) ||
  path === "packages/tools/src/define.ts" ||
  basename(path) === "errors.ts"

/** What layout can not change. */
const bare = (text: string): string => text.replaceAll(/[\s,;()]/g, "")

/** What examples speak of without making it. */
const given = ["ada", "bo", "clerk", "error", "findBerth", "fleet", "harbor", "part"]

function exampleFile(examples: ReadonlyArray<{ readonly path: string; readonly code: string }>): string {
  const names = Object.keys(exported)
  const used = (from: object) =>
    names.filter((name) => name in from && examples.some(({ code }) => new RegExp(`\\b${name}\\b`).test(code)))
  const ofTesting = used(testing).filter((name) => !(name in reverie))
  const isLine = ({ code }: { readonly code: string }) =>
    code.startsWith("if (error instanceof") && !code.includes("\n")
  const functions = examples.flatMap((example) => {
    if (isLine(example)) return []
    const { code, path } = example
    const made = [...code.matchAll(/^(?:await using|const) (?:\{ ([\w, ]+) \}|(\w+)) =/gm)].flatMap(
      ([, several = "", one = several]) => one.split(", ").map((name) => `void ${name}`)
    )
    return [`// ${path}\nasync () => {\n${[code, ...made].join("\n")}\n}`]
  })
  const lines = examples.filter(isLine).map(({ code }) => code)
  return `// Written by surface.test.ts from the examples in the sources. Every one of them must compile.

import { ${[...new Set([...used(reverie), "Fleet"])].join(", ")} } from "../../src/index.ts"
import type { AssistantDefinition, DefinedTool, FleetDefinition, Part } from "../../src/index.ts"
${ofTesting.length === 0 ? "" : `import { ${ofTesting.join(", ")} } from "../../src/testing/index.ts"\n`}
declare const ada: AssistantDefinition
declare const bo: AssistantDefinition
declare const clerk: AssistantDefinition
declare const error: unknown
declare const findBerth: DefinedTool<{ readonly metres: number }, string>
declare const fleet: Fleet
declare const harbor: FleetDefinition
declare const part: Extract<Part, { readonly type: "approval" }>

export const examples = () => [
() => [${given.join(", ")}],
() => {
${lines.join("\n")}
},
${functions.join(",\n")}
]
`
}
