// Access: who may ask, as the contract says it.
// Owns the security scheme, and what a handler learns of the caller. Leaves judging to `../http/guard.ts`.
// A1  A handler acts for the tenant of the token alone; without tokens, on this machine, for the default one.

import * as Context from "effect/Context"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Malformed, Unauthorized } from "./errors.ts"

export class Principal extends Context.Service<
  Principal,
  {
    readonly tenant: string
    /** Who it is in the audit log: the name of the token, or `local`. */
    readonly name: string
    /** May look and change nothing. */
    readonly readOnly: boolean
  }
>()("@reverie/server/Principal") {}

export class Access extends HttpApiMiddleware.Service<Access, { provides: Principal; requires: never }>()(
  "@reverie/server/Access",
  { requiredForClient: true, security: { bearer: HttpApiSecurity.bearer }, error: Unauthorized }
) {}

/** Says in our own form what does not fit the contract. */
export class Fitting extends HttpApiMiddleware.Service<Fitting>()("@reverie/server/Fitting", { error: Malformed }) {}
