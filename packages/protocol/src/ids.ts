// Ids: the names by which everything is addressed.
// Owns the shape of an id. Leaves its making to the Ids service of whoever creates the thing.
// I1  An id is printable, has no slash and at most 128 characters, so that it can stand in a path, a key and a screen.
// I2  An assistant is found by tenant and id together; no key ever holds the id alone.

import * as Schema from "effect/Schema"

const plainId = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9._:@#+-]+$/), Schema.isMaxLength(128))

export const TenantId = plainId.pipe(Schema.brand("TenantId"))
export type TenantId = typeof TenantId.Type

export const AssistantId = plainId.pipe(Schema.brand("AssistantId"))
export type AssistantId = typeof AssistantId.Type

/** The idempotency key of an envelope: the same id sent twice is accepted once. Any text up to 256 characters. */
export const EnvelopeId = Schema.NonEmptyString.check(Schema.isMaxLength(256)).pipe(Schema.brand("EnvelopeId"))
export type EnvelopeId = typeof EnvelopeId.Type

/** Where an assistant is reached. */
export const Address = Schema.Struct({ tenant: TenantId, assistant: AssistantId })
export type Address = typeof Address.Type

/** The tenant of a deployment that has only one. */
export const DEFAULT_TENANT = TenantId.make("default")

/** `tenant/assistant`, the key of an address in maps and logs. */
export const addressKey = (address: Address): string => `${address.tenant}/${address.assistant}`

export const sameAddress = (a: Address, b: Address): boolean => a.tenant === b.tenant && a.assistant === b.assistant
