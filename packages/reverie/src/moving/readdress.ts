// Readdress: who moves under another name, or into another tenant.
// Owns where addresses stand in a bundle. Leaves history as it was: what was said under the old name was said under it.
// A1  An assistant that is not renamed, of a tenant that stays, is not changed by a byte.
// A2  Mail, open sends, blocks and what a state says of addresses name the new one; entries keep the old one.

import { createdKey, type Bundle, type BundleHead, type BundlePart } from "@reverie/ledger"
import {
  type Address,
  type AssistantId,
  assistantSender,
  isJsonObject,
  type Json,
  type TenantId
} from "@reverie/protocol"

export interface Readdress {
  /** By the id of before. */
  readonly names: ReadonlyMap<string, AssistantId>
  readonly tenant?: TenantId
}

const renamed = ({ names }: Readdress, id: string): AssistantId => names.get(id) ?? (id as AssistantId)

const addressed = (to: Readdress, { assistant, tenant }: Address): Address => ({
  tenant: to.tenant ?? tenant,
  assistant: renamed(to, assistant)
})

const isAddress = (value: { readonly [key: string]: Json }): boolean =>
  Object.keys(value).length === 2 && typeof value["tenant"] === "string" && typeof value["assistant"] === "string"

/** Every address, and every sender that is an assistant, at any depth. */
const within = (to: Readdress, value: Json): Json => {
  if (typeof value === "string") {
    const [, id] = /^assistant:(.+)$/s.exec(value) ?? []
    return id === undefined ? value : assistantSender(renamed(to, id))
  }
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map((each) => within(to, each))
  if (!isJsonObject(value)) return value
  if (isAddress(value)) return addressed(to, value as unknown as Address) as unknown as Json
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, within(to, each)]))
}

type JsonObject = { readonly [key: string]: Json }

const changed = (value: JsonObject, changes: JsonObject): Json =>
  Object.fromEntries([...Object.entries(value), ...Object.entries(changes)])

/** An envelope's own fields; what its event says are the sender's words. */
const envelope = (to: Readdress, body: Json): Json => {
  if (!isJsonObject(body)) return body
  const named = ["to", "from"].flatMap((name) => (body[name] === undefined ? [] : [[name, within(to, body[name])]]))
  return changed(body, Object.fromEntries(named) as JsonObject)
}

const share = (to: Readdress, given: Json): Json =>
  isJsonObject(given) && typeof given["with"] === "string"
    ? changed(given, { with: renamed(to, given["with"]) })
    : given

const block = (to: Readdress, part: BundlePart & { readonly kind: "block" }): BundlePart => {
  const { body, owner, readers } = part
  const shares = isJsonObject(body) && Array.isArray(body["shares"]) ? (body["shares"] as ReadonlyArray<Json>) : []
  const shared = { owner: renamed(to, owner), shares: shares.map((each) => share(to, each)) }
  return {
    ...part,
    owner: renamed(to, owner),
    readers: readers.map((reader) => renamed(to, reader)),
    body: isJsonObject(body) ? changed(body, shared) : body
  }
}

const key = (to: Readdress, text: string): string => {
  for (const [before, after] of to.names) {
    if (text.startsWith(createdKey(before))) return createdKey(after) + text.slice(createdKey(before).length)
  }
  return text
}

const partTo = (to: Readdress, part: BundlePart): BundlePart => {
  if (part.kind === "envelope") return { ...part, body: envelope(to, part.body) }
  if (part.kind === "send") return { ...part, envelope: envelope(to, part.envelope as Json) as typeof part.envelope }
  if (part.kind === "block") return block(to, part)
  if (part.kind === "block-answer") return { ...part, key: key(to, part.key) }
  return part
}

const headTo = (to: Readdress, head: BundleHead): BundleHead => {
  if (head.kind === "tenant") return { ...head, tenant: to.tenant ?? head.tenant }
  return {
    ...head,
    address: addressed(to, head.address),
    state: within(to, head.state as unknown as Json) as unknown as typeof head.state
  }
}

export const readdressed = (to: Readdress, { head, parts }: Bundle): Bundle => {
  if (to.names.size === 0 && to.tenant === undefined) return { head, parts }
  return { head: headTo(to, head), parts: parts.map((part) => partTo(to, part)) }
}
