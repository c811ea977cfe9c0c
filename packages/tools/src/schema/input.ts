// Input: what a tool takes, in any of the forms an author may write it.
// Owns the faces of an input: the schema that is offered and the check of what comes back.
// Leaves reshaping the schema to `offer.ts`, and reading one that does not show itself to `foreign.ts`.
// I1  What the author's own schema admits is never refused here, and what it decodes to is what the tool gets.
// I2  A check never throws and never fails untyped; a validator that throws becomes a sentence.
// I3  Nothing is built or compiled twice: a check is made once per tool, on first use.

import { isJsonObject, type Json } from "@reverie/protocol"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import type { ErrorObject, Options } from "ajv"
import { readerOf } from "./foreign.ts"
import { NO_ARGUMENTS, offerOf } from "./offer.ts"
import type { JsonObject } from "./inline.ts"
import { boundedIssues, issueSentence, messageOf } from "../results/sentences.ts"
import type { Tool } from "../tool.ts"

// Ajv check: arguments against a plain JSON Schema.
// I1  The author's schema is compiled as written: references, recursion and open objects mean what they say.
// I2  Compilers do not share names: two tools may use the same `$id`.

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
const lazyCheck = (schema: JsonObject): Tool["validate"] => {
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
  const Compiler = older ? named(await import("ajv"), "Ajv") : named(await import("ajv/dist/2020.js"), "Ajv2020")
  try {
    return checkWith(new Compiler(options).compile(body))
  } catch {
    // Some patterns are only valid without the unicode flag.
    return withoutUnicode(() => checkWith(new Compiler({ ...options, unicodeRegExp: false }).compile(body)))
  }
}

/** Where a bundler splits, the names of a CommonJS module are found on its default alone. */
const named = <Module extends object, Name extends keyof Module>(module: Module, name: Name): Module[Name] =>
  module[name] ?? (Reflect.get(module, "default") as Module)[name]

const withoutUnicode = (make: () => Check): Check => {
  try {
    return make()
  } catch (thrown) {
    const sentence = issueSentence([], `can not be checked, the schema itself is wrong: ${messageOf(thrown)}`)
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

/** An Effect Schema, any Standard Schema that can show itself as JSON Schema, one of zod 3 or valibot, or a plain JSON Schema. */
export type ToolInput = Schema.ConstraintDecoder<unknown> | StandardSchemaV1 | { readonly [keyword: string]: unknown }

/** The values that a JSON Schema written as a literal admits. What it does not say, or says by `$ref`, is any JSON. */
export type FromJsonSchema<S> = S extends { readonly const: infer Value }
  ? Value
  : S extends { readonly enum: ReadonlyArray<infer Value> }
    ? Value
    : S extends { readonly anyOf: ReadonlyArray<infer Part> } | { readonly oneOf: ReadonlyArray<infer Part> }
      ? EachOf<Part>
      : S extends { readonly type: infer Name }
        ? OfType<Name extends ReadonlyArray<infer Each> ? Each : Name, S>
        : S extends { readonly properties: object }
          ? ObjectOf<S>
          : Json

type EachOf<Part> = Part extends unknown ? FromJsonSchema<Part> : never

type OfType<Name, S> = string extends Name
  ? Json
  : Name extends "string"
    ? string
    : Name extends "number" | "integer"
      ? number
      : Name extends "boolean"
        ? boolean
        : Name extends "null"
          ? null
          : Name extends "array"
            ? ReadonlyArray<S extends { readonly items: infer Item } ? FromJsonSchema<Item> : Json>
            : ObjectOf<S>

type RequiredIn<S> = S extends { readonly required: ReadonlyArray<infer Name> } ? Name : never

type ObjectOf<S> = S extends { readonly properties: infer Properties }
  ? Flat<
      {
        readonly [Name in keyof Properties as Name extends RequiredIn<S> ? Name : never]: FromJsonSchema<
          Properties[Name]
        >
      } & {
        readonly [Name in keyof Properties as Name extends RequiredIn<S> ? never : Name]?: FromJsonSchema<
          Properties[Name]
        >
      }
    >
  : S extends { readonly additionalProperties: infer Value extends object }
    ? { readonly [name: string]: FromJsonSchema<Value> }
    : JsonObject

type Flat<A> = { readonly [Name in keyof A]: A[Name] }

/** What a tool with this input gets. */
export type ArgumentsOf<Input> =
  Input extends Schema.ConstraintDecoder<infer Decoded>
    ? Decoded
    : Input extends StandardSchemaV1
      ? StandardSchemaV1.InferOutput<Input>
      : Input extends undefined
        ? { readonly [key: string]: never }
        : AnyObject<FromJsonSchema<Input>>

/** A schema that is not written as a literal says nothing to the compiler: then the arguments are any object. */
type AnyObject<A> = Json extends A ? JsonObject : A

/** What a model writes for a tool with this input, before the schema has changed it. */
export type GivenTo<Input> = Input extends { readonly Encoded: infer Encoded }
  ? Encoded
  : Input extends StandardSchemaV1
    ? StandardSchemaV1.InferInput<Input>
    : Input extends undefined
      ? { readonly [key: string]: never }
      : AnyObject<FromJsonSchema<Input>>

type Validate = Tool["validate"]

export interface AcceptedInput {
  readonly parameters: JsonObject
  /** The JSON Schema that the parameters were made of, as the author or the author's library wrote it. */
  readonly document: JsonObject
  readonly validate: Validate
}

/** The faces of the input, or one sentence of what is wrong with it. */
export const acceptInput = (input: unknown): AcceptedInput | string => {
  if (input === undefined) return { parameters: NO_ARGUMENTS, document: NO_ARGUMENTS, validate: takesNothing }
  if (Schema.isSchema(input)) return acceptEffectSchema(input)
  if (isStandard(input)) return acceptStandardSchema(input)
  if (isOlderZod(input)) return "its input (zod) is no Standard Schema: use zod 3.24 or newer, or give a JSON Schema"
  const copy = jsonCopy(input)
  if (!isJsonObject(copy)) return "its input is neither a Standard Schema nor a JSON Schema object"
  return offered(copy, lazyCheck(copy))
}

const offered = (schema: JsonObject, validate: Validate): AcceptedInput | string => {
  const { parameters, problem } = offerOf(schema)
  return problem ?? { parameters, document: schema, validate }
}

const nothing: Effect.Effect<unknown> = Effect.succeed(Object.freeze({}))

// Models that have nothing to say send `{}`, `null` or an empty text; all mean the same.
const takesNothing: Validate = (args) => {
  if (args === null || args === "") return nothing
  if (!isJsonObject(args)) return Effect.fail([issueSentence([], "must be an empty object, this tool takes none")])
  const names = Object.keys(args)
  if (names.length === 0) return nothing
  return Effect.fail(boundedIssues(names, (name) => issueSentence([name], "is not expected")))
}

const formatIssue = SchemaIssue.makeFormatterStandardSchemaV1()

const acceptEffectSchema = (schema: Schema.Top): AcceptedInput | string => {
  const validate = madeHere(schema) ? decodedBy(schema) : isStandard(schema) ? checkedBy(schema) : undefined
  if (validate === undefined) {
    return `its input was made by another copy of effect: ${remedyFor("effect")}`
  }
  const shown = attempt(() => Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" }))
  if ("problem" in shown) return `its input can not be shown as JSON Schema: ${shown.problem}`
  const document = jsonCopy({ ...shown.value.schema, $defs: shown.value.definitions })
  if (!isJsonObject(document)) return "its input can not be shown as JSON Schema"
  return offered(isEmptyStruct(document) ? NO_ARGUMENTS : document, validate)
}

const nodes: object = Object.getPrototypeOf(Object.getPrototypeOf(Schema.String.ast))

/** The marks by which a schema is read are those of the copy of effect that made it: another copy misreads them. */
const madeHere = ({ ast }: Schema.Top): boolean => Object.prototype.isPrototypeOf.call(nodes, ast)

const decodedBy = (schema: Schema.Top): Validate => {
  // `ToolInput` admits only schemas that need no services, which `Top` has forgotten.
  const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, unknown>
  const decode = Schema.decodeUnknownEffect(codec, { errors: "all" })
  return (args) =>
    decode(args).pipe(
      Effect.mapError((error) => sentencesOf(formatIssue(error.issue).issues)),
      Effect.catchDefect((defect) => unchecked(messageOf(defect)))
    )
}

// An empty struct admits anything but null in Effect, and says so.
const isEmptyStruct = (document: JsonObject): boolean => JSON.stringify(document["not"]) === `{"type":"null"}`

const acceptStandardSchema = (schema: StandardSchemaV1): AcceptedInput | string => {
  const { vendor } = schema["~standard"]
  const show = converterOf(schema)
  if (show === undefined) return `its input (${vendor}) can not show itself as JSON Schema: ${remedyFor(vendor)}`
  const shown = attempt(show)
  if ("problem" in shown) return `its input (${vendor}) can not be shown as JSON Schema: ${shown.problem}`
  const document = jsonCopy(shown.value)
  if (!isJsonObject(document)) return `its input (${vendor}) can not be shown as JSON Schema`
  return offered(document, checkedBy(schema))
}

/** By the standard, by a method of the schema, `toJSONSchema` (zod 4) or `toJsonSchema` (arktype), or by what it is made of. */
const converterOf = (schema: StandardSchemaV1): (() => unknown) | undefined => {
  const { jsonSchema }: Partial<StandardJSONSchemaV1.Props> = schema["~standard"]
  if (typeof jsonSchema?.input === "function") return () => shownBy(jsonSchema)
  const method = ["toJSONSchema", "toJsonSchema"].find((name) => typeof Reflect.get(schema, name) === "function")
  return method === undefined ? readerOf(schema) : () => (Reflect.get(schema, method) as () => unknown).call(schema)
}

const remedyFor = (vendor: string): string => {
  if (vendor === "zod") return "use zod 4.2 or newer, or give a JSON Schema"
  if (vendor === "valibot") return "wrap it in toStandardJsonSchema of @valibot/to-json-schema, or give a JSON Schema"
  if (vendor === "effect")
    return "wrap it in Schema.toStandardSchemaV1(Schema.toCodecJson(…)) of that copy, or give a JSON Schema"
  return "use a version of it that implements Standard JSON Schema, or give a JSON Schema"
}

const shownBy = (converter: StandardJSONSchemaV1.Converter): unknown => {
  const modern = attempt(() => converter.input({ target: "draft-2020-12" }))
  return "problem" in modern ? converter.input({ target: "draft-07" }) : modern.value
}

const checkedBy =
  (schema: StandardSchemaV1): Validate =>
  (args) => {
    const outcome = attempt(() => schema["~standard"].validate(args))
    if ("problem" in outcome) return unchecked(outcome.problem)
    if (!(outcome.value instanceof Promise)) return settled(outcome.value)
    const pending = outcome.value
    return Effect.tryPromise({ try: () => pending, catch: messageOf }).pipe(
      Effect.matchEffect({ onFailure: unchecked, onSuccess: settled })
    )
  }

const unchecked = (problem: string) => Effect.fail([issueSentence([], `could not be checked: ${problem}`)])

const settled = (result: StandardSchemaV1.Result<unknown>): Effect.Effect<unknown, ReadonlyArray<string>> =>
  result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(sentencesOf(result.issues))

const sentencesOf = (issues: ReadonlyArray<StandardSchemaV1.Issue>): ReadonlyArray<string> =>
  boundedIssues(issues, ({ message, path = [] }) =>
    issueSentence(
      path.map((step) => (typeof step === "object" ? step.key : step)),
      message
    )
  )

const isOlderZod = (input: unknown): boolean =>
  typeof input === "object" && input !== null && "_def" in input && "safeParse" in input

const isStandard = (input: unknown): input is StandardSchemaV1 => {
  if (input === null || (typeof input !== "object" && typeof input !== "function")) return false
  const standard = "~standard" in input ? input["~standard"] : undefined
  return (
    typeof standard === "object" &&
    standard !== null &&
    "validate" in standard &&
    typeof standard.validate === "function"
  )
}

const attempt = <A>(make: () => A): { readonly value: A } | { readonly problem: string } => {
  try {
    return { value: make() }
  } catch (thrown) {
    return { problem: messageOf(thrown) }
  }
}

/** A copy that later changes by the author can not reach; undefined when the value is not JSON. */
const jsonCopy = (value: unknown): Json | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const copy = attempt((): Json => JSON.parse(JSON.stringify(value)))
  return "problem" in copy ? undefined : copy.value
}
