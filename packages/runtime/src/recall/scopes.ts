// Scopes: whose memories an assistant may look into.
// P1  An assistant looks into others' memories only as far as its definition grants it.

import type { RecallScope } from "@reverie/memory"
import type { Definition } from "../session/definition.ts"

const DEFAULT_RECALL_SCOPES: ReadonlyArray<RecallScope> = ["own", "shared"]

type Granting = Partial<Pick<Definition, "recallScopes">>

export const scopesOf = ({ recallScopes = DEFAULT_RECALL_SCOPES }: Granting): ReadonlyArray<RecallScope> => recallScopes

export const mayRecall = (definition: Granting, scope: RecallScope): boolean => scopesOf(definition).includes(scope)

/** The scope of who names none: what others share with it, where it may look there. */
export const scopeOf = (definition: Granting): RecallScope => (mayRecall(definition, "shared") ? "shared" : "own")
