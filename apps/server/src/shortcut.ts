// Shortcut: accepting a message without the router, which costs several times what accepting does.
// Owns the way of a message that fits. Leaves everything else to the router: what does not fit, and whoever may only look.
// H1  Both ways answer the same to the same request, and leave the same line in the audit log.

import type { IncomingMessage, ServerResponse } from "node:http"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { acceptMessage } from "./acceptance.ts"
import type { Admitted } from "./admitted.ts"
import { refuse, writeJson } from "./answer.ts"
import { Id, Key, Said } from "./api/index.ts"
import type { Boards } from "./board/boards.ts"
import type { Desk } from "./desk.ts"
import { apiFailureOf } from "./failure.ts"
import type { Route } from "./route-table.ts"

const ROUTE = "messages.send"
const BEFORE_ID = "/v1/assistants/".length
const AFTER_ID = "/messages".length
const MAX_TRACEPARENT_CHARS = 64

const isId = Schema.is(Id)
const isKey = Schema.is(Key)
const saidIn = Schema.decodeUnknownOption(Said)

const isText = (value: string | string[] | undefined): value is string | undefined => !Array.isArray(value)

export const openShortcut =
  (desk: Desk["Service"], boards: Boards) =>
  (
    route: Route,
    request: IncomingMessage,
    response: ServerResponse,
    { principal, value }: Admitted,
    path: string
  ): boolean => {
    if (route.name !== ROUTE || principal.readOnly) return false
    const id = decodeURIComponent(path.slice(BEFORE_ID, -AFTER_ID))
    const { "idempotency-key": key, traceparent } = request.headers
    if (!isId(id) || !isText(key) || (key !== undefined && !isKey(key))) return false
    if (!isText(traceparent) || (traceparent ?? "").length > MAX_TRACEPARENT_CHARS) return false
    const said = saidIn(value)
    if (Option.isNone(said)) return false
    const { name, tenant } = principal
    const told = (outcome: string): void =>
      desk.record({ at: Date.now(), who: name, tenant, action: ROUTE, target: id, outcome })
    const accept = async (): Promise<void> => {
      try {
        const { envelope, outcome } = await acceptMessage(desk.fleetOf(tenant), id, said.value, { key, traceparent })
        boards.touch(tenant, id)
        told("done")
        writeJson(response, 202, { outcome, envelope })
      } catch (error) {
        const failure = apiFailureOf(error, desk.onTrouble)
        told(`refused: ${failure._tag}`)
        refuse(request, response, failure)
      }
    }
    void accept()
    return true
  }
