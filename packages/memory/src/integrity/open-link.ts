// OpenLink: a link with a gap that a model shall fill in, by which a secret leaves with the next click.
// Owns finding one. It is no pattern of a rule: a pattern would read the rest of the link again for each beginning in it.
// O1  A link is read once, however many beginnings of links are in it.

export const linkPattern = /\bhttps?:\/\/\S*/g

export const gapPattern =
  /\{[^{}\n]{1,60}\}|\[(?:insert[ \n]|your[ \n]|the[ \n])?[a-z_ ]{3,40}\]|<[a-z_ ]{3,40}>|\$\{?[a-z_]+/u

/** Of a gap that begins with the last character of the link. */
const MAX_GAP_CHARS = 62

/** True when a link holds a place to be filled in, in its path, its query or its fragment. */
export const holdsOpenLink = (reading: string): boolean => {
  for (const { 0: whole, index } of reading.matchAll(linkPattern)) {
    const host = whole.indexOf("//") + 2
    const asked = whole.slice(host).search(/[?&/=#]/)
    if (asked === -1) continue
    const rest = reading.slice(index + host + asked + 1, index + whole.length + MAX_GAP_CHARS)
    const found = gapPattern.exec(rest)
    if (found !== null && index + host + asked + 1 + found.index < index + whole.length) return true
  }
  return false
}
