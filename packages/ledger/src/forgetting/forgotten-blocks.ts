// ForgottenBlocks: blocks that several wrote in, of which something is forgotten.
// Owns which versions were written in which ticks, and which blocks are made again. Leaves making them again, which takes the library of
// documents, to who forgets.
// B1  A block that was written in forgotten ticks alone goes. Of any other go what these ticks wrote and sentences that are forgotten; what
//     others wrote stays. One that can not be made again without them goes.

import { isJsonObject, type Json } from "@reverie/protocol"
import type { Bundle, BundlePart } from "../bundle-part.ts"
import { blockOfAnswer } from "../packing.ts"
import { lowered } from "./hushing.ts"
import { blocksSaying, type Sought } from "./forgetting.ts"
import { blank, blankSentences, sentences, sentencesOf } from "./texts/sentences.ts"

/** Makes a block again, which is one with its versions and snapshot. Undefined where it can not be done, or something sought is left. */
export type BlockRemaking = (
  block: ReadonlyArray<BundlePart>,
  /** `before`: what the version before holds. */
  blanking: (text: string, version: number, before: string) => string,
  sought: Sought
) => ReadonlyArray<BundlePart> | undefined

type Versions = ReadonlyMap<string, ReadonlySet<number>>

/** Versions of blocks that ticks of an assistant have written: a call answers under the key of its tick. */
const versionsOf = ({ head, parts }: Bundle, ticks: ReadonlySet<number>): Versions => {
  const found = new Map<string, Set<number>>()
  if (head.kind === "tenant") return found
  const begin = `${head.address.tenant}/${head.address.assistant}/`
  for (const part of parts) {
    if (part.kind !== "block-answer" || !part.key.startsWith(begin)) continue
    if (!ticks.has(Number.parseInt(part.key.slice(begin.length), 10))) continue
    const block = blockOfAnswer(part.answer)
    const change = isJsonObject(part.answer) ? part.answer["change"] : undefined
    const { changed, version } = isJsonObject(change) ? change : ({} as { readonly [key: string]: Json })
    if (block === undefined || changed !== true || typeof version !== "number") continue
    found.set(block, (found.get(block) ?? new Set()).add(version))
  }
  return found
}

const blockOf = (part: BundlePart): string | undefined => {
  if (part.kind === "block") return part.id
  return part.kind === "block-version" || part.kind === "block-snapshot" ? part.block : undefined
}

interface Forgotten {
  readonly ticks: ReadonlySet<number>
  /** Sentences, lowered. What the ticks wrote is added: others were shown it. */
  readonly said: Set<string>
  /** Those that others say still: none of them is added. */
  readonly others: ReadonlySet<string>
}

/** What a version has written: not what stood there before, which who writes a text anew writes again. */
const withoutWritten = (text: string, before: string, { others, said }: Forgotten): string => {
  const there = lowered(before)
  const isNew = (sentence: string): boolean => !there.includes(sentence)
  for (const each of sentencesOf(text)) if (isNew(each) && !others.has(each)) said.add(each)
  const left = blankSentences(isNew, text)
  return /[\p{L}\p{N}]/u.test(left) ? left : blank(text)
}

/** A life whose blocks are without what is forgotten. */
export const withoutInBlocks = (life: Bundle, forgotten: Forgotten, remaking: BlockRemaking): Bundle => {
  const { said, ticks } = forgotten
  const sought = sentences(said)
  const written = versionsOf(life, ticks)
  const saying = blocksSaying(sought, life)
  const groups = Map.groupBy(life.parts, blockOf)
  const made = new Map<string, ReadonlyArray<BundlePart>>()
  for (const [id, group] of groups) {
    if (id === undefined || !(written.has(id) || saying.has(id))) continue
    const by = written.get(id)
    const isAll = group.every((part) => part.kind !== "block-version" || by?.has(part.version) === true)
    const blanking = (text: string, version: number, before: string): string =>
      by?.has(version) === true
        ? withoutWritten(text, before, forgotten)
        : blankSentences((each) => said.has(each), text)
    const left = isAll ? [] : remaking(group, blanking, sought)
    made.set(id, left ?? [])
  }
  if (made.size === 0) return life
  const parts = life.parts.flatMap((part): ReadonlyArray<BundlePart> => {
    if (part.kind === "block-answer") return made.get(blockOfAnswer(part.answer) ?? "")?.length === 0 ? [] : [part]
    const left = made.get(blockOf(part) ?? "")
    if (left === undefined) return [part]
    return part.kind === "block" ? left : []
  })
  return { head: life.head, parts }
}
