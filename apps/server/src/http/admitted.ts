// Admitted: what was found out about a request before the router saw it.
// Owns handing it on: who asks to the handlers, the judged body to the decoder. Leaves judging to guard.ts and body.ts.
// A1  A request that the guard did not let in reaches no handler: without a note of it the router refuses.

import type { IncomingMessage } from "node:http"
import { unknownName } from "@reverie/protocol"
import type { Json } from "reverie"
import * as Effect from "effect/Effect"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Layer from "effect/Layer"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import { Access, Fitting, Principal } from "../api/access.ts"
import { Malformed, Unauthorized } from "../api/errors.ts"

export interface Admitted {
  readonly principal: Principal["Service"]
  /** JSON text; empty when nothing came. */
  readonly text: string
  /** What it says; undefined when nothing came. */
  readonly value: Json | undefined
  /** Aborted when the client leaves; of a request that came by a socket, the socket says it. */
  readonly leaving?: AbortSignal
}

const notes = new WeakMap<object, Admitted>()

/** `request` is what the router's own request was made of. */
export const admit = (request: IncomingMessage | Request, admitted: Admitted): void => {
  notes.set(request, admitted)
}

export const admittedOf = ({ source }: HttpServerRequest): Admitted | undefined => notes.get(source)

/** The request as the router may see it: its body is the text that was judged. */
export const withJudgedBody = (request: HttpServerRequest): HttpServerRequest => {
  const text = admittedOf(request)?.text ?? ""
  return Object.create(request, { text: { value: Effect.succeed(text) } }) as HttpServerRequest
}

export const accessLive = Layer.succeed(
  Access,
  Access.of({
    bearer: Effect.fnUntraced(function* (asked) {
      const admitted = admittedOf(yield* HttpServerRequest)
      if (admitted === undefined) return yield* new Unauthorized({ message: "a token is needed" })
      return yield* Effect.provideService(asked, Principal, admitted.principal)
    })
  })
)

const slots = { Params: "params", Query: "query", Headers: "headers", Payload: "payload" } as const
const MAX_ISSUES = 20

/** Stands before each name that there is, where another one was said. */
const NAME = "\u0000"

const namesIn = (ast: SchemaAST.AST): ReadonlyArray<string> => {
  const fields = SchemaAST.isUnion(ast) ? ast.types.flatMap(namesIn) : []
  return SchemaAST.isObjects(ast) ? ast.propertySignatures.map(({ name }) => String(name)) : fields
}

const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) =>
    issue._tag === "UnexpectedKey"
      ? namesIn(issue.ast)
          .map((name) => NAME + name)
          .join("")
      : SchemaIssue.defaultLeafHook(issue)
})

const textOf = (segment: PropertyKey | { readonly key: PropertyKey }): string =>
  String(typeof segment === "object" ? segment.key : segment)

export const fittingLive = HttpApiMiddleware.layerSchemaErrorTransform(Fitting, (error) => {
  // What the server answers and what the contract says differ: a bug here, and nothing that the asker did.
  if (error.kind === "Body" || error.kind === "ResponseHeaders") return Effect.die(error.cause)
  const slot = slots[error.kind]
  const issues = issuesOf(error.cause.issue)
    .issues.slice(0, MAX_ISSUES)
    .map(({ message, path = [] }) => issueOf([slot, ...path.map(textOf)], message))
  const [first] = issues
  const where = first?.path.join(".") ?? slot
  const message = first?.isName === true ? first.message : `the request does not fit: ${where}`
  return Effect.fail(new Malformed({ message, issues: issues.map(({ message, path }) => ({ path, message })) }))
})

const MAX_MESSAGE_CHARS = 300

const issueOf = (path: ReadonlyArray<string>, message: string) => {
  if (!message.startsWith(NAME)) return { path, message: message.slice(0, MAX_MESSAGE_CHARS), isName: false }
  const within = path.slice(1, -1).join(".")
  const slot = path[0] === slots.Query ? "the query" : "the body"
  const where = within === "" ? slot : `${within} in ${slot}`
  return {
    path,
    message: `${where} has no ${unknownName(path.at(-1) ?? "", message.slice(1).split(NAME))}`,
    isName: true
  }
}
