// Present: is a bundle that arrives the life that is led here already?
// Owns the comparison. Leaves both bundles to whoever has them.
// N1  A life is present when everything of it that only grows is here: its entries one by one, its accepted envelopes, and
//     of each of its blocks as many versions. What is here may be later, never earlier.
// N2  What is compared is what was written, not what it was written as: the order of the members of an object counts for
//     nothing.

import { isJsonObject, type Json } from "@reverie/protocol"
import type { Bundle, PartKind, PartOf, BundlePart } from "./bundle-part.ts"

const ordered = (value: Json): Json => {
  if (Array.isArray(value)) return (value as ReadonlyArray<Json>).map(ordered)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, ordered(member)])
  )
}

/** One text for all ways to write the same JSON. */
export const canonical = (value: unknown): string => JSON.stringify(ordered(value as Json))

const named = <Kind extends PartKind>(
  parts: ReadonlyArray<BundlePart>,
  kind: Kind,
  nameOf: (part: PartOf<Kind>) => string
): ReadonlyMap<string, PartOf<Kind>> =>
  new Map(parts.flatMap((part) => (part.kind === kind ? [[nameOf(part as PartOf<Kind>), part as PartOf<Kind>]] : [])))

/** The first part of this kind that is not here, or not the same here. */
const missing = <Kind extends PartKind>(
  bundle: Bundle,
  here: Bundle,
  kind: Kind,
  nameOf: (part: PartOf<Kind>) => string,
  isSame: (part: PartOf<Kind>, found: PartOf<Kind>) => boolean = (part, found) => canonical(part) === canonical(found)
): string | undefined => {
  const found = named(here.parts, kind, nameOf)
  for (const [name, part] of named(bundle.parts, kind, nameOf)) {
    const same = found.get(name)
    if (same === undefined || !isSame(part, same)) return `${kind} ${name}`
  }
  return undefined
}

/** What of a bundle is not led here, named for people; undefined when all of it is. */
export const missingOf = (bundle: Bundle, here: Bundle): string | undefined =>
  missing(bundle, here, "entry", ({ entry }) => String(entry.no)) ??
  missing(
    bundle,
    here,
    "envelope",
    ({ id }) => id,
    (part, found) => part.lane === found.lane
  ) ??
  missing(
    bundle,
    here,
    "block",
    ({ id }) => id,
    (part, found) => part.owner === found.owner && part.label === found.label
  ) ??
  missing(bundle, here, "block-version", ({ block, version }) => `${block} ${version}`) ??
  missing(bundle, here, "block-answer", ({ key }) => key) ??
  missing(bundle, here, "prompt", ({ key, of, version }) => `${of} ${key} ${version}`)

const lineOf = ({ key, of }: PartOf<"prompt">): string => JSON.stringify([of, key])

/** The parts of a bundle whose line, block or key has nothing here yet: what is the same here is not put down twice. */
export const newParts = ({ parts }: Bundle, here: Bundle | undefined): ReadonlyArray<BundlePart> => {
  if (here === undefined) return parts
  const lines = new Set(here.parts.flatMap((part) => (part.kind === "prompt" ? [lineOf(part)] : [])))
  const blocks = new Set(here.parts.flatMap((part) => (part.kind === "block" ? [part.id] : [])))
  const keys = new Set(here.parts.flatMap((part) => (part.kind === "block-answer" ? [part.key] : [])))
  return parts.filter((part) => {
    if (part.kind === "prompt") return !lines.has(lineOf(part))
    if (part.kind === "block") return !blocks.has(part.id)
    if (part.kind === "block-version" || part.kind === "block-snapshot") return !blocks.has(part.block)
    return part.kind !== "block-answer" || !keys.has(part.key)
  })
}

/** What is here under the name of something in a tenant's bundle and is not the same; undefined when nothing is. */
export const clashOf = (bundle: Bundle, here: Bundle): string | undefined => {
  const fresh = new Set(newParts(bundle, here))
  return missingOf({ ...bundle, parts: bundle.parts.filter((part) => !fresh.has(part)) }, here)
}
