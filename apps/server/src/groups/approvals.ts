// Approvals: the group about calls that wait for a person.

import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import { Api, Unavailable } from "../api/index.ts"

const notYet = () => Effect.fail(new Unavailable({ message: "this is not served yet" }))

export const approvalsLive = HttpApiBuilder.group(Api, "approvals", (handlers) =>
  handlers.handleAll({ open: notYet, decide: notYet })
)
