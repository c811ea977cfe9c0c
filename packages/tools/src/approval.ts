// Approval: the id under which a person decides about one call.
// Owns the binding of a decision to the exact call. Leaves asking and remembering to the runtime.
// I1  The id changes when any of tenant, assistant, tick, call, tool, arguments or epoch does.
// I2  The order of keys in the arguments does not change it.
// I3  A decision allows the call that was shown and no other: arguments that changed since have another id.

import { createHash } from "node:crypto"
import type { AssistantId, Json, TenantId } from "@reverie/protocol"

export interface ApprovalSubject {
  readonly tenant: TenantId
  readonly assistant: AssistantId
  readonly tick: number
  readonly call: string
  readonly tool: string
  readonly arguments: Json
  /** Given, the decision holds for one claim only. */
  readonly epoch?: number
}

/** `apr_` and 16 hexadecimal digits. */
export const approvalId = (subject: ApprovalSubject): string => {
  const { arguments: args, assistant, call, epoch = null, tenant, tick, tool } = subject
  const bound = canonicalJson({ arguments: args, assistant, call, epoch, tenant, tick, tool })
  return `apr_${createHash("sha256").update(bound).digest("hex").slice(0, 16)}`
}

/** True when the decision was asked for this very call; asked again right before the call runs. */
export const isApprovalFor = (subject: ApprovalSubject, approval: string): boolean => approvalId(subject) === approval

/** JSON text that is the same for equal values, whatever the order of their keys. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(",")}}`
}
