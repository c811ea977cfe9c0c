// Contract: the OpenAPI document of Qdrant, as a judge of requests and answers.
// Owns finding the document, its conversion to JSON Schema, and what is wrong with one exchange. Leaves meaning to the
// double: a request may fit and be refused.
// K1  The document writes optional fields as `anyOf: [..., { nullable: true }]`. Read as JSON Schema, the second one
//     accepts anything; it is read as null.
// K2  An object has the fields that the document names and no other: a misspelt field is a fault.
// K3  Parameters of the query are those of the route, and what is in them fits.
// K4  The document is no part of the project. Without it nothing can be judged, which is for the caller to say.
// K5  An object without a field is no body: the client of Qdrant sends one with every POST, and the server does not read it.

import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Ajv, type ValidateFunction } from "ajv"
import { namesIn } from "./routes.ts"
import { type Fields, fieldsOf, isFields, listOf, type QdrantRequest } from "./wire.ts"

/** Where the document stands, if it stands anywhere: where `QDRANT_OPENAPI` says, else beside the project. */
export const findContract = (): string | undefined => {
  const beside = fileURLToPath(new URL("../../../../../shared/data/qdrant-openapi-1.19.json", import.meta.url))
  const path = process.env["QDRANT_OPENAPI"] ?? beside
  return existsSync(path) ? path : undefined
}

/** What holds values of its own kind, or schemas under names: no schema itself. */
const values = new Set(["default", "enum", "example"])
const maps = new Set(["properties", "schemas"])

const converted = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(converted)
  if (!isFields(schema)) return schema
  const { nullable, ...inner } = Object.fromEntries(
    Object.entries(schema).flatMap(([key, value]) => {
      if (values.has(key)) return key === "enum" ? [[key, value]] : []
      return [[key, maps.has(key) ? convertedEach(fieldsOf(value)) : converted(value)]]
    })
  )
  const closed = "properties" in inner && !("additionalProperties" in inner) ? { additionalProperties: false } : {}
  if (nullable !== true) return { ...inner, ...closed }
  return typeof inner["type"] === "string" ? { ...inner, ...closed, type: [inner["type"], "null"] } : { type: "null" }
}

const convertedEach = (schemas: Fields): Fields =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, converted(schema)]))

interface Route {
  readonly method: string
  readonly pattern: string
  readonly parameters: ReadonlyMap<string, ValidateFunction>
  readonly body: ValidateFunction | undefined
  readonly answer: ValidateFunction | undefined
}

const jsonSchema = (holder: unknown): unknown =>
  fieldsOf(fieldsOf(fieldsOf(holder)["content"])["application/json"])["schema"]

export interface Contract {
  /** Routes that the document has. */
  readonly routes: number
  /** What is wrong with a request; nothing when the list is empty. */
  readonly requestFaults: (request: QdrantRequest) => ReadonlyArray<string>
  /** What is wrong with the body of a good answer to it. */
  readonly answerFaults: (request: QdrantRequest, body: unknown) => ReadonlyArray<string>
}

const explained = (where: string, judge: ValidateFunction, value: unknown): ReadonlyArray<string> => {
  if (judge(value)) return []
  const told = (judge.errors ?? []).map(({ instancePath, message, params }) => {
    return `${where}${instancePath} ${message ?? ""} ${JSON.stringify(params)}`
  })
  return [...new Set(told)]
}

/** A text of the query as the document's type has it. */
const valueOf = (text: string): unknown => (/^(true|false|-?\d+)$/.test(text) ? JSON.parse(text) : text)

const queryFaults = ({ parameters }: Route, { query }: QdrantRequest): ReadonlyArray<string> =>
  [...query].flatMap(([name, text]) => {
    const judge = parameters.get(name)
    return judge === undefined ? [`unknown parameter ${name}`] : explained(`parameter ${name}`, judge, valueOf(text))
  })

const isNothing = (body: unknown): boolean => body === undefined || (isFields(body) && Object.keys(body).length === 0)

const bodyFaults = ({ body }: Route, request: QdrantRequest): ReadonlyArray<string> => {
  if (body === undefined) return isNothing(request.body) ? [] : ["a body where none belongs"]
  return request.body === undefined ? ["no body"] : explained("body", body, request.body)
}

const routesOf = (document: Fields, compile: (schema: unknown) => ValidateFunction): ReadonlyArray<Route> =>
  Object.entries(fieldsOf(document["paths"])).flatMap(([path, methods]) =>
    Object.entries(fieldsOf(methods)).map(([method, operation]) => {
      const { parameters, requestBody, responses } = fieldsOf(operation)
      const named = listOf(parameters)
        .map(fieldsOf)
        .filter((parameter) => parameter["in"] === "query")
      const body = jsonSchema(requestBody)
      const answer = jsonSchema(fieldsOf(responses)["200"])
      return {
        method: method.toUpperCase(),
        pattern: path.replaceAll(/\{[^}]+\}/g, "{}"),
        parameters: new Map(named.map(({ name, schema }) => [String(name), compile(schema)])),
        body: body === undefined ? undefined : compile(body),
        answer: answer === undefined ? undefined : compile(answer)
      }
    })
  )

/** Reads the document. Validators are made when they are first needed. */
export const openContract = (path: string): Contract => {
  const document = fieldsOf(converted(JSON.parse(readFileSync(path, "utf8"))))
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: false, allowUnionTypes: true })
  ajv.addSchema({ $id: "qdrant", components: document["components"] })
  const absolute = (schema: unknown): object =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"qdrant#/components')) as object
  const compile = (schema: unknown): ValidateFunction => {
    let made: ValidateFunction | undefined
    const lazily = (value: unknown): boolean => {
      made ??= ajv.compile(absolute(schema))
      const isFit = made(value)
      lazily.errors = made.errors ?? null
      return isFit
    }
    lazily.errors = null as ValidateFunction["errors"]
    return lazily as ValidateFunction
  }
  const routes = routesOf(document, compile)
  const routeOf = ({ method, path }: QdrantRequest): Route | undefined =>
    routes.find((route) => route.method === method && namesIn(route.pattern, path) !== undefined)
  return {
    routes: routes.length,
    requestFaults: (request) => {
      const route = routeOf(request)
      if (route === undefined) return [`unknown route ${request.method} ${request.path}`]
      return [...queryFaults(route, request), ...bodyFaults(route, request)]
    },
    answerFaults: (request, body) => {
      const answer = routeOf(request)?.answer
      return answer === undefined ? [] : explained("answer", answer, body)
    }
  }
}
