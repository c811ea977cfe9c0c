// Text: texts of others, shown so that nothing in them hides.
// V1  Text stays text: no part of it is ever read as markup.
// V2  What can not be seen is made visible as its code point, e.g. ⟨U+200B⟩; emoji keep their joiners.

import { Fragment, memo, type ReactNode, useState } from "react"

const unseen =
  /\p{Cc}|\p{Cf}|\p{Cs}|\p{Co}|[\u2028\u2029\u115F\u1160\u2800\u3164\uFFA0]|\u034F|\u17B4|\u17B5|[\uFE00-\uFE0F]|[\u{E0100}-\u{E01EF}]/u
const unseenParts = new RegExp(`(${unseen.source})`, "u")
/** Between and behind pictures, and nowhere else, these are part of what one sees. */
const joiners =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\u{1F1E6}-\u{1F1FF}0-9#*])(\uFE0F\u200D|\uFE0F|\u200D(?=\p{Extended_Pictographic}))/gu

const KEPT = "\u{F8FF}"
const isBreak = (char: string): boolean => char === "\n" || char === "\t"

/** Whether something in it can not be seen. */
export const hasUnseen = (text: string): boolean =>
  unseen.test(text) && pieces(text).some(({ unseen }) => unseen !== undefined)

interface Piece {
  readonly text: string
  readonly unseen?: string
}

const nameOf = (char: string): string => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/** The text cut where something in it can not be seen. */
export const pieces = (text: string): ReadonlyArray<Piece> => {
  const kept: Array<string> = []
  const guarded = text.includes(KEPT)
    ? text
    : text.replace(joiners, (found) => {
        kept.push(found)
        return KEPT
      })
  const found: Array<Piece> = []
  const say = (part: string) => {
    const last = found.at(-1)
    if (last !== undefined && last.unseen === undefined) found[found.length - 1] = { text: last.text + part }
    else found.push({ text: part })
  }
  for (const part of guarded.split(unseenParts)) {
    if (part === "") continue
    if (part === KEPT && kept.length > 0) say(kept.shift() ?? "")
    else if (isBreak(part) || !unseen.test(part)) say(part)
    else found.push({ text: part, unseen: nameOf(part) })
  }
  return found
}

/** Text of others in a line. */
export const Visible = memo(({ text }: { readonly text: string }): ReactNode => {
  if (!unseen.test(text)) return text
  return pieces(text).map((piece, at) =>
    piece.unseen === undefined ? (
      <Fragment key={at}>{piece.text}</Fragment>
    ) : (
      <span key={at} className="invisible-char" data-unseen={piece.unseen}>
        ⟨{piece.unseen}⟩
      </span>
    )
  )
})
Visible.displayName = "Visible"

const CUT_CHARS = 4_000

/** Text of others as a block; a long one opens further on demand. */
export const TextView = ({ label, text }: { readonly text: string; readonly label?: string }) => {
  const [whole, open] = useState(false)
  const cut = !whole && text.length > CUT_CHARS
  return (
    <div>
      <pre
        className="viewer max-h-[32rem]"
        tabIndex={0}
        {...(label === undefined ? {} : { "aria-label": label, role: "region" })}
      >
        <Visible text={cut ? text.slice(0, CUT_CHARS) : text} />
        {cut ? "…" : null}
      </pre>
      {cut ? (
        <button type="button" className="button button-small mt-1.5" onClick={() => open(true)}>
          Show all {text.length.toLocaleString("en")} characters
        </button>
      ) : null}
    </div>
  )
}
