// Gateway: where a handler asks the fleet.
// Owns finding the fleet of the caller, and making a failure of the fleet one of the API. Leaves what is asked to the groups.
// D1  A handler reaches the fleet of its principal's tenant and no other; for limits, who asks as the deployment's own tenant names any.
// D2  Whatever a promise rejects with becomes a failure of the contract; a bug becomes `Unexpected`, and its text stays here.
// D3  Who may only look changes nothing: `changing` refuses before anything is asked.

import type { DefinitionView, Fleet, FleetReadings, FleetRole } from "reverie"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { appendFile } from "node:fs/promises"
import { type ApiFailure, Forbidden, isApiFailure } from "./api/errors.ts"
import { Principal } from "./api/access.ts"
import { apiFailureOf } from "./failure.ts"

/** What a reading asks: an open fleet, or a store that is only looked into. */
export interface ReadFleet extends FleetReadings, Pick<Fleet, "on" | "profile" | "teams"> {
  /** A store that is only looked into has them of a fleet's file, or none. */
  readonly definitions: () => ReadonlyArray<DefinitionView> | Promise<ReadonlyArray<DefinitionView>>
  readonly replay: Fleet["replay"]
  /** Says what is due, and changes nothing. */
  readonly vacuum: (options: { readonly dryRun: true }) => ReturnType<Fleet["vacuum"]>
  readonly monitor: Pick<Fleet["monitor"], "limits" | "metrics" | "otherWorkers" | "totals">
}

export class Gateway extends Context.Service<
  Gateway,
  {
    /** For changes; throws where the store is only looked into. */
    readonly fleetOf: (tenant: string) => Fleet
    readonly readFleetOf: (tenant: string) => ReadFleet
    readonly role: FleetRole
    /** Milliseconds since the epoch. */
    readonly startedAt: number
    readonly onTrouble: (line: string) => void
    /** The process asks itself: what the fleet rejects with goes through as it is. */
    readonly isOwn?: boolean
    /** Writes down who changed what. */
    readonly record: (line: AuditLine) => void
    readonly audited: (tenant: string, limit: number) => ReadonlyArray<AuditLine>
  }
>()("@reverie/server/gateway") {}

export interface AuditLine {
  readonly at: number
  readonly who: string
  readonly tenant: string
  /** `group.endpoint`. */
  readonly action: string
  /** Whom it was about. */
  readonly target: string
  readonly outcome: string
}

/** Reads something of the tenant's fleet. */
export const asking = <A>(
  read: (fleet: ReadFleet, principal: Principal["Service"]) => Promise<A> | A
): Effect.Effect<A, ApiFailure, Gateway | Principal> =>
  Effect.flatMap(Gateway, ({ readFleetOf }) => tried((principal) => read(readFleetOf(principal.tenant), principal)))

const tried = <A>(
  work: (principal: Principal["Service"], leaving: AbortSignal) => Promise<A> | A
): Effect.Effect<A, ApiFailure, Gateway | Principal> =>
  Effect.gen(function* () {
    const { isOwn = false, onTrouble } = yield* Gateway
    const principal = yield* Principal
    const done = Effect.tryPromise({
      try: async (leaving) => work(principal, leaving),
      catch: (rejected) => ({ rejected })
    })
    return yield* done.pipe(
      Effect.catch(({ rejected }) =>
        isOwn && !isApiFailure(rejected) ? Effect.die(rejected) : Effect.fail(apiFailureOf(rejected, onTrouble))
      )
    )
  })

/** Changes something, and writes down who did it, whether it worked or not. `action` is `group.endpoint`. */
export const changing = <A>(
  action: string,
  target: string,
  change: (fleet: Fleet, principal: Principal["Service"]) => Promise<A> | A
): Effect.Effect<A, ApiFailure, Gateway | Principal> =>
  Effect.flatMap(Gateway, ({ fleetOf }) =>
    recorded(action, target, (principal) => change(fleetOf(principal.tenant), principal))
  )

/**
 * The same for what costs something, or writes what follows from the rest, and needs no more than a look. `leaving` says that no one
 * waits for it any more.
 */
export const costing = <A>(
  action: string,
  target: string,
  work: (fleet: ReadFleet, leaving: AbortSignal) => Promise<A> | A
): Effect.Effect<A, ApiFailure, Gateway | Principal> =>
  Effect.flatMap(Gateway, ({ readFleetOf }) =>
    recorded(action, target, ({ tenant }, leaving) => work(readFleetOf(tenant), leaving))
  )

const recorded = <A>(
  action: string,
  target: string,
  work: (principal: Principal["Service"], leaving: AbortSignal) => Promise<A> | A
): Effect.Effect<A, ApiFailure, Gateway | Principal> =>
  Effect.gen(function* () {
    const { record } = yield* Gateway
    const { name, readOnly, tenant } = yield* Principal
    const told = (outcome: string) => {
      record({ at: Date.now(), who: name, tenant, action, target, outcome })
    }
    if (readOnly) {
      told("refused: this token may only look")
      return yield* new Forbidden({ message: "this token may only look" })
    }
    return yield* tried(work).pipe(
      Effect.tap(() => Effect.sync(() => told("done"))),
      Effect.tapError((failure) => Effect.sync(() => told(`refused: ${failure._tag}`))),
      Effect.onInterrupt(() => Effect.sync(() => told("left")))
    )
  })

// Audit: who changed what through this server.
// A1  A tenant reads its own lines and no others.
// A2  Memory is bounded for each tenant, and no one's lines push out another's; the file is only added to, one JSON object a line.

const KEPT = 2_000
const MAX_FIELD_CHARS = 300

const short = (text: string): string => (text.length > MAX_FIELD_CHARS ? `${text.slice(0, MAX_FIELD_CHARS)}…` : text)

export class Audit {
  readonly #file: string | undefined
  readonly #onTrouble: (line: string) => void
  readonly #byTenant = new Map<string, Array<AuditLine>>()
  #unwritten: Array<string> = []
  #writing: Promise<void> | undefined

  constructor(file: string | undefined, onTrouble: (line: string) => void) {
    this.#file = file
    this.#onTrouble = onTrouble
  }

  record(line: AuditLine): void {
    const kept = { ...line, target: short(line.target), outcome: short(line.outcome) }
    const lines = this.#byTenant.get(line.tenant) ?? []
    this.#byTenant.set(line.tenant, lines)
    lines.push(kept)
    if (lines.length > 2 * KEPT) lines.splice(0, lines.length - KEPT)
    if (this.#file === undefined) return
    this.#unwritten.push(`${JSON.stringify(kept)}\n`)
    this.#writing ??= this.#write(this.#file)
  }

  /** The newest first. */
  of(tenant: string, limit: number): ReadonlyArray<AuditLine> {
    return (this.#byTenant.get(tenant) ?? []).slice(-limit).toReversed()
  }

  /** Resolves when every line is in the file. */
  async flushed(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing
  }

  async #write(file: string): Promise<void> {
    // What comes in this turn is written together.
    await Promise.resolve()
    while (this.#unwritten.length > 0) {
      const lines = this.#unwritten
      this.#unwritten = []
      try {
        await appendFile(file, lines.join(""), { mode: 0o600 })
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error)
        this.#onTrouble(`the audit log can not be written: ${why}`)
      }
    }
    this.#writing = undefined
  }
}
