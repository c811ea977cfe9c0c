// Addressing: whom a message to a team is for, when it says so.
// Owns `@all`, `@name`, `name:`, `name,` and `hey name`. Leaves who is asked otherwise to the selector.
// A1  A name counts at the beginning of a message only, `@all` and `@name` as whole words: `bo@all` and `bob` mean nobody.
// A2  Who is named is asked, and nobody else, whatever the selector would say.

import type { TeamMember } from "./team.ts"

export type Addressed = { readonly type: "all" } | { readonly type: "named"; readonly ids: ReadonlyArray<string> }

const everybody = /(?<![\p{L}\p{N}_@.])@all(?![\p{L}\p{N}_@.:#+-]*[\p{L}\p{N}_])/iu

const namesOf = ({ id, names = [] }: TeamMember): ReadonlyArray<string> =>
  [id, ...names].map((name) => name.trim().normalize("NFC")).filter((name) => name !== "")

interface Called {
  readonly id: string
  readonly name: string
}

/** Every name, the longest first: `Ada Lovelace` is not `Ada`. */
const longestFirst = (members: ReadonlyArray<TeamMember>): ReadonlyArray<Called> =>
  members
    .flatMap((member) => namesOf(member).map((name) => ({ id: member.id, name })))
    .toSorted((one, other) => other.name.length - one.name.length)

/** The member that the text begins with in one of the forms, and the rest of the text. */
const first = (text: string, names: ReadonlyArray<Called>, forms: ReadonlyArray<string>) => {
  for (const { id, name } of names) {
    for (const form of forms) {
      const found = new RegExp(
        form.replace("NAME", () => RegExp.escape(name)),
        "iu"
      ).exec(text)
      if (found !== null) return { id, rest: text.slice(found[0].length) }
    }
  }
  return undefined
}

const AT = [String.raw`^[\s,;]*(?:and\s+)?@NAME(?![\p{L}\p{N}_]|[-.:#+@][\p{L}\p{N}_])`]
const SPOKEN = [String.raw`^\s*NAME\s*[:,]`, String.raw`^\s*hey,?\s+NAME(?![\p{L}\p{N}_]|[-.#+@][\p{L}\p{N}_])`]

/** Whom the text is for; undefined when it does not say. */
export const addressed = (text: string, members: ReadonlyArray<TeamMember>): Addressed | undefined => {
  if (everybody.test(text)) return { type: "all" }
  const names = longestFirst(members)
  const spoken = first(text.normalize("NFC"), names, SPOKEN)
  if (spoken !== undefined) return { type: "named", ids: [spoken.id] }
  const ids: Array<string> = []
  let rest = text.normalize("NFC")
  while (true) {
    const found = first(rest, names, AT)
    if (found === undefined) break
    if (!ids.includes(found.id)) ids.push(found.id)
    rest = found.rest
  }
  return ids.length === 0 ? undefined : { type: "named", ids }
}
