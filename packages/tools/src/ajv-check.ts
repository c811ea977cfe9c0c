// Ajv check: arguments against a plain JSON Schema.
// Owns compilation, once and on first use, and the sentences. Leaves flaws that show at definition to `inline.ts`.
// I1  The author's schema is compiled as written: references, recursion and open objects mean what they say.
// I2  Compilers do not share names: two tools may use the same `$id`.

import { isJsonObject } from "@reverie/protocol"
import type { ErrorObject, Options } from "ajv"
import * as Effect from "effect/Effect"
import type { JsonObject } from "./schema-walk.ts"
import { boundedIssues, issueSentence } from "./sentences.ts"
import { messageOf } from "./thrown.ts"
import type { Tool } from "./tool.ts"

type Check = (args: unknown) => ReadonlyArray<string>

const options: Options = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  logger: false,
  ownProperties: true
}

/** A check that loads and compiles nothing before it is used. */
export const lazyCheck = (schema: JsonObject): Tool["validate"] => {
  let ready: Check | undefined
  let coming: Promise<Check> | undefined
  const use = (check: Check, args: unknown) => {
    const issues = isJsonObject(args) ? check(args) : [issueSentence([], "must be one JSON object")]
    return issues.length === 0 ? Effect.succeed(args) : Effect.fail(issues)
  }
  return (args) => {
    if (ready !== undefined) return use(ready, args)
    const compiling = (coming ??= compile(schema))
    return Effect.flatMap(
      Effect.promise(() => compiling),
      (check) => {
        ready = check
        return use(check, args)
      }
    )
  }
}

const compile = async (schema: JsonObject): Promise<Check> => {
  const { $schema: dialect, ...body } = schema
  const older = typeof dialect === "string" && /draft-0[4-7]/.test(dialect)
  const Compiler = older ? (await import("ajv")).Ajv : (await import("ajv/dist/2020.js")).Ajv2020
  try {
    return checkWith(new Compiler(options).compile(body))
  } catch {
    // Some patterns are only valid without the unicode flag.
    return withoutUnicode(() => checkWith(new Compiler({ ...options, unicodeRegExp: false }).compile(body)))
  }
}

const withoutUnicode = (make: () => Check): Check => {
  try {
    return make()
  } catch (thrown) {
    const sentence = issueSentence([], `can not be checked, the tool's own schema is wrong: ${messageOf(thrown)}`)
    return () => [sentence]
  }
}

interface Compiled {
  (args: unknown): unknown
  errors?: Array<ErrorObject> | null
}

const checkWith =
  (compiled: Compiled): Check =>
  (args) => {
    try {
      return compiled(args) === true ? [] : boundedIssues(compiled.errors ?? [], sentenceOf)
    } catch (thrown) {
      return [issueSentence([], `could not be checked: ${messageOf(thrown)}`)]
    }
  }

const sentenceOf = (error: ErrorObject): string => {
  const path = error.instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
  const params: Readonly<Record<string, unknown>> = error.params
  if (error.keyword === "required") return issueSentence([...path, String(params["missingProperty"])], "is missing")
  if (error.keyword === "additionalProperties") {
    return issueSentence([...path, String(params["additionalProperty"])], "is not expected")
  }
  if (error.keyword === "enum") return issueSentence(path, `must be one of ${JSON.stringify(params["allowedValues"])}`)
  if (error.keyword === "const") return issueSentence(path, `must be ${JSON.stringify(params["allowedValue"])}`)
  return issueSentence(path, error.message ?? `does not fit (${error.keyword})`)
}
