// Shortcut: accepting a message without the router, which costs several times what accepting does.
// Owns the way of a message that fits. Leaves everything else to the long way: what does not fit, who is not let in, and who
// may only look.
// H1  Both ways answer the same to the same request, and leave the same line in the audit log.

import type { IncomingMessage, ServerResponse } from "node:http"
import { isJsonObject, type Json, SHORT_TEXT } from "@reverie/protocol"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { acceptMessage, type Beside, hasTwoKeys, type SaidMessage } from "../views/acceptance.ts"
import { refuse, secure, securing } from "./answer.ts"
import { bodyParsing, Id, Key, type Principal, Said } from "../api/index.ts"
import type { Boards } from "../board/boards.ts"
import { judgedBody, keepRead, MAX_MESSAGE_BYTES, roomFor } from "./body.ts"
import type { Gateway } from "../gateway.ts"
import { apiFailureOf } from "../failure.ts"
import type { NodeHandler } from "./front.ts"
import type { Guard } from "./guard.ts"
import type { Traffic } from "./traffic.ts"

export interface ShortcutOptions {
  readonly gateway: Gateway["Service"]
  readonly boards: Boards
  readonly guard: Guard
  readonly traffic: Traffic
  readonly isClosing: () => boolean
  /** The way of everything else. */
  readonly long: NodeHandler
}

const ACTION = "messages.send"
const PATTERN = "/v1/assistants/:id/messages"
/** Ids that are written as they are; one that is encoded goes the long way. */
const PATH = /^\/v1\/assistants\/([^/?#%]{1,128})\/messages$/
const MAX_TRACEPARENT_CHARS = 64

const isId = Schema.is(Id)
const isKey = Schema.is(Key)
const decode = Schema.decodeUnknownOption(Said, bodyParsing)

/** Well within whatever the schema bounds. */
const PLAIN_TEXT_CHARS = 10_000
const PLAIN_NAME_CHARS = 100

const isPlainName = (value: unknown): boolean =>
  value === undefined || (typeof value === "string" && value.length > 0 && value.length <= PLAIN_NAME_CHARS)

const plainFields = new Set(["text", "id", "from"])

/** A message as most are: fits the schema at a glance. */
const isPlain = (value: Json | undefined): value is { readonly text: string } => {
  if (!isJsonObject(value)) return false
  for (const field in value) if (!plainFields.has(field)) return false
  const { from, id, text } = value
  return typeof text === "string" && text.length <= PLAIN_TEXT_CHARS && isPlainName(id) && isPlainName(from)
}

const saidIn = (value: Json | undefined): Option.Option<SaidMessage> =>
  isPlain(value) ? Option.some(value) : decode(value)

interface Envelope {
  readonly id: string
  readonly principal: Principal["Service"]
  readonly beside: Beside
}

const isText = (value: string | string[] | undefined): value is string | undefined => !Array.isArray(value)

const besideIn = ({ headers }: IncomingMessage): Beside | undefined => {
  const { "idempotency-key": key, traceparent } = headers
  if (!isText(key) || (key !== undefined && !isKey(key))) return undefined
  if (!isText(traceparent) || (traceparent ?? "").length > MAX_TRACEPARENT_CHARS) return undefined
  return { key, traceparent }
}

const holdsShortBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] === undefined && Number(headers["content-length"]) <= MAX_MESSAGE_BYTES

const flatSecuring = securing.flat()

const writeAccepted = (response: ServerResponse, outcome: string, envelope: string): void => {
  if (response.destroyed) return
  const body = JSON.stringify({ outcome, envelope })
  const length = String(Buffer.byteLength(body))
  response.writeHead(202, [...flatSecuring, "content-type", "application/json", "content-length", length])
  response.end(body)
}

export class Shortcut {
  readonly #options: ShortcutOptions

  constructor(options: ShortcutOptions) {
    this.#options = options
  }

  /** The listener of a server. */
  readonly handle: NodeHandler = (request, response) => {
    const envelope = this.#envelopeOf(request)
    if (envelope === undefined) return this.#options.long(request, response)
    this.#options.traffic.begin(response, PATTERN)
    const chunks: Array<Buffer> = []
    // It brings as many bytes as it has said: node sees to that.
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
      if (bytes.length <= SHORT_TEXT) this.#take(request, response, envelope, bytes)
      else void roomFor(bytes.length).then(() => this.#take(request, response, envelope, bytes))
    })
    request.on("error", () => response.destroy())
  }

  #take(request: IncomingMessage, response: ServerResponse, envelope: Envelope, bytes: Buffer): void {
    const judged = judgedBody(bytes, request.headers["content-type"])
    const said = "_tag" in judged ? Option.none() : saidIn(judged.value)
    if (Option.isSome(said)) {
      void this.#accept(request, response, envelope, said.value)
      return
    }
    keepRead(request, bytes)
    this.#options.long(request, response)
  }

  /** Undefined for what must go the long way. */
  #envelopeOf(request: IncomingMessage): Envelope | undefined {
    if (request.method !== "POST" || this.#options.isClosing()) return undefined
    const id = PATH.exec(request.url ?? "")?.[1]
    if (id === undefined || !isId(id) || !holdsShortBody(request)) return undefined
    const beside = besideIn(request)
    if (beside === undefined || hasTwoKeys(request)) return undefined
    const principal = this.#options.guard.judge(request, "fleet")
    return "_tag" in principal || principal.readOnly ? undefined : { id, principal, beside }
  }

  async #accept(
    request: IncomingMessage,
    response: ServerResponse,
    { beside, id, principal: { name, tenant } }: Envelope,
    said: SaidMessage
  ): Promise<void> {
    const { boards, gateway } = this.#options
    const told = (outcome: string): void =>
      gateway.record({ at: Date.now(), who: name, tenant, action: ACTION, target: id, outcome })
    try {
      const { envelope, outcome } = await acceptMessage(gateway.fleetOf(tenant), id, said, beside)
      boards.touch(tenant, id)
      told("done")
      writeAccepted(response, outcome, envelope)
    } catch (error) {
      const failure = apiFailureOf(error, gateway.onTrouble)
      told(`refused: ${failure._tag}`)
      if (response.destroyed) return
      secure(response)
      refuse(request, response, failure)
    }
  }
}
