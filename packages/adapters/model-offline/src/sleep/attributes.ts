// Attributes: what holds of somebody or something for longer than a day.
// Owns telling an attribute from an event, and comparing it with what is known. Leaves keeping it to whoever asked.
// A1  An attribute is what somebody is, has, likes, wants or does as a rule; never what is going on or happened once.
// A2  What is known already is ignored, with the attribute that says so; nothing is ever taken back.

import { isParticiple, isPast } from "./grammar.ts"
import { gistOf, saysTheSame, unasked } from "./likeness.ts"
import { linesOf } from "./lines.ts"

const lasting =
  "is|has|likes|loves|hates|dislikes|enjoys|prefers|wants|needs|works|lives|owns|plays|speaks|studies|believes|knows|comes|keeps|collects|teaches|runs|fears|trusts|cannot|can't|never|always|usually"

/** What a fact says of somebody or something that lasts; undefined when it says nothing of the kind. */
const predicate = new RegExp(
  `^(?:\\s+(?:also|really|still|always|never|often|usually))?\\s+(${lasting})\\s+([\\p{L}'-]+)`,
  "u"
)
const property = /^['’]s\s[^.]{1,60}?\s(?:is|are)\s/

export const attributeIn = (fact: string, entity: string): string | undefined => {
  const said = unasked(fact).trim()
  if (entity === "" || !said.startsWith(entity)) return undefined
  const rest = said.slice(entity.length)
  const [, verb = "", next = ""] = predicate.exec(rest) ?? []
  const isUnderWay = verb === "is" && /^(?:\p{L}+in[g']|gonna|off|about|so|just)$/u.test(next)
  const isPerfect = verb === "has" && (next === "got" || next === "to" || isPast(next) || isParticiple(next))
  if (verb !== "" && !isUnderWay && !isPerfect) return said
  return property.test(rest) ? said : undefined
}

interface Found {
  readonly attribute: string
  readonly evidence: Array<string>
}

export const profiled = (data: string): string => {
  const entity = /^Entity: *(\S.*)$/m.exec(data)?.[1]?.trim() ?? ""
  const [before = "", after = ""] = data.split(/^New:.*$/m)
  const known = linesOf(before)
  const found: Array<Found> = []
  const isSame = (one: string, other: string): boolean => saysTheSame(gistOf(one), gistOf(other))
  for (const { id, text } of linesOf(after)) {
    const attribute = attributeIn(text, entity)
    if (attribute === undefined) continue
    const again = found.find((each) => isSame(each.attribute, attribute))
    if (again === undefined) found.push({ attribute, evidence: [id] })
    else again.evidence.push(id)
  }
  return JSON.stringify(
    found.map(({ attribute, evidence }) => {
      const target = known.find(({ text }) => isSame(text, attribute))?.id ?? null
      return { action: target === null ? "ADD" : "IGNORE", target, attribute, evidence }
    })
  )
}
