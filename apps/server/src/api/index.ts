// Api: the HTTP contract of a fleet.
// Owns the list of its groups. What a request may be and what comes back stands in the groups; `/openapi.json` and `/docs`
// are made of the same.

import * as HttpApi from "effect/http-api/HttpApi"
import * as OpenApi from "effect/http-api/OpenApi"
import { Access, Fitting } from "./access.ts"
import { bodyParsing } from "./words.ts"
import { AssistantsGroup } from "./assistants.ts"
import { MachineGroup, PromptsGroup, SystemGroup } from "./deployment.ts"
import { ContextGroup } from "./context.ts"
import { MemoryGroup, TimelineGroup } from "./inside.ts"
import { NightGroup } from "./night.ts"
import { MessagesGroup } from "./messages.ts"
import { ApprovalsGroup, SubAgentTreeGroup, QueuesGroup, ReplayGroup } from "./steering.ts"

export class Api extends HttpApi.make("reverie")
  .add(AssistantsGroup)
  .add(MessagesGroup)
  .add(ContextGroup)
  .add(TimelineGroup)
  .add(MemoryGroup)
  .add(NightGroup)
  .add(ApprovalsGroup)
  .add(SubAgentTreeGroup)
  .add(QueuesGroup)
  .add(ReplayGroup)
  .add(MachineGroup)
  .add(PromptsGroup)
  .add(SystemGroup)
  .middleware(Access)
  .middleware(Fitting)
  .annotate(HttpApi.PayloadParseOptions, bodyParsing)
  .annotateMerge(OpenApi.annotations({ title: "Reverie", version: "1.0.0" })) {}

export * from "./access.ts"
export * from "./assistants.ts"
export * from "./fleet/groups.ts"
export * from "./fleet/rows.ts"
export { LedgerEntry } from "./entry.ts"
export * from "./errors.ts"
export * from "./deployment.ts"
export * from "./context.ts"
export * from "./inside.ts"
export * from "./night.ts"
export * from "./messages.ts"
export * from "./steering.ts"
export * from "./words.ts"
