// Porter: the stem of an English word, after M. F. Porter, "An algorithm for suffix stripping", 1980.
// Owns the five steps. Leaves which tokens are words to `tokens.ts`.
// P1  Equal to the `porter` tokeniser of SQLite's FTS5 on English words: an index made by one is read by the other.
// P2  Made for lower-case ASCII; any other text comes back changed at most at such an ending.

const isVowelAt = (word: string, at: number): boolean => {
  const letter = word[at]
  if (letter === "a" || letter === "e" || letter === "i" || letter === "o" || letter === "u") return true
  return letter === "y" && at > 0 && !isVowelAt(word, at - 1)
}

const hasVowel = (stem: string): boolean => {
  for (let at = 0; at < stem.length; at++) if (isVowelAt(stem, at)) return true
  return false
}

/** How often a vowel is followed by a consonant, up to 2: nothing asks for more. */
const measure = (stem: string): number => {
  let count = 0
  let wasVowel = false
  for (let at = 0; at < stem.length && count < 2; at++) {
    const isVowel = isVowelAt(stem, at)
    if (wasVowel && !isVowel) count++
    wasVowel = isVowel
  }
  return count
}

/** Ends in consonant, vowel, consonant, the last one neither w, x nor y. */
const isShort = (stem: string): boolean => {
  const last = stem.length - 1
  return (
    last >= 2 &&
    !isVowelAt(stem, last) &&
    isVowelAt(stem, last - 1) &&
    !isVowelAt(stem, last - 2) &&
    !"wxy".includes(stem[last] ?? "")
  )
}

const without = (word: string, count: number): string => word.slice(0, word.length - count)

const plural = (word: string): string => {
  if (!word.endsWith("s") || word.endsWith("ss")) return word
  return word.endsWith("sses") || (word.endsWith("ies") && word.length > 3) ? without(word, 2) : without(word, 1)
}

const completed = (stem: string): string => {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`
  const last = stem.length - 1
  if (last > 0 && stem[last] === stem[last - 1] && !"aeioulsz".includes(stem[last] ?? "")) return without(stem, 1)
  return measure(stem) === 1 && isShort(stem) ? `${stem}e` : stem
}

const tense = (word: string): string => {
  if (word.endsWith("eed")) return measure(without(word, 3)) > 0 ? without(word, 1) : word
  const length = word.endsWith("ed") ? 2 : word.endsWith("ing") ? 3 : 0
  const stem = without(word, length)
  return length > 0 && hasVowel(stem) ? completed(stem) : word
}

const finalY = (word: string): string =>
  word.endsWith("y") && hasVowel(without(word, 1)) ? `${without(word, 1)}i` : word

type Endings = ReadonlyArray<readonly [ending: string, replacement: string]>

const derived: Endings = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["enci", "ence"],
  ["anci", "ance"],
  ["izer", "ize"],
  ["logi", "log"],
  ["bli", "ble"],
  ["alli", "al"],
  ["entli", "ent"],
  ["eli", "e"],
  ["ousli", "ous"],
  ["ization", "ize"],
  ["ation", "ate"],
  ["ator", "ate"],
  ["alism", "al"],
  ["iveness", "ive"],
  ["fulness", "ful"],
  ["ousness", "ous"],
  ["aliti", "al"],
  ["iviti", "ive"],
  ["biliti", "ble"]
]

const compound: Endings = [
  ["icate", "ic"],
  ["ative", ""],
  ["alize", "al"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ful", ""],
  ["ness", ""]
]

const residual: Endings = "al ance ence er ic able ible ant ement ment ent ou ism ate iti ous ive ize"
  .split(" ")
  .map((ending) => [ending, ""])

/** Endings by their last letters, so that a word is compared with few. */
const byLastLetters = (endings: Endings): ReadonlyMap<string, Endings> => {
  const grouped = new Map<string, Array<readonly [string, string]>>()
  for (const pair of endings) {
    const key = pair[0].slice(-2)
    const group = grouped.get(key) ?? []
    group.push(pair)
    grouped.set(key, group)
  }
  return grouped
}

const derivedBy = byLastLetters(derived)
const compoundBy = byLastLetters(compound)
const residualBy = byLastLetters(residual)

/** Replaces the first ending that fits, if the measure of what stands before it is above a number. */
const replaced = (word: string, endings: ReadonlyMap<string, Endings>, above: number): string => {
  for (const [ending, replacement] of endings.get(word.slice(-2)) ?? []) {
    if (!word.endsWith(ending)) continue
    const stem = without(word, ending.length)
    return measure(stem) > above ? stem + replacement : word
  }
  return word
}

const residue = (word: string): string => {
  if (!word.endsWith("ion")) return replaced(word, residualBy, 1)
  const stem = without(word, 3)
  return /[st]$/.test(stem) && measure(stem) > 1 ? stem : word
}

const finalE = (word: string): string => {
  if (!word.endsWith("e")) return word
  const stem = without(word, 1)
  const count = measure(stem)
  return count > 1 || (count === 1 && !isShort(stem)) ? stem : word
}

const doubleL = (word: string): string =>
  word.endsWith("ll") && measure(without(word, 1)) > 1 ? without(word, 1) : word

/** The stem of a word in lower case; words of one or two letters are their own. */
export const porterStem = (word: string): string => {
  if (word.length < 3) return word
  const inflected = finalY(tense(plural(word)))
  return doubleL(finalE(residue(replaced(replaced(inflected, derivedBy, 0), compoundBy, 0))))
}

// Irregular: English words whose forms no ending gives away.

/** Each line: the word, then its forms. */
const families = `
bear bore borne
beat beaten
become became
begin began begun
bend bent
bind bound
bite bit bitten
bleed bled
blow blew blown
break broke broken
breed bred
bring brought
build built
burn burnt
buy bought
catch caught
choose chose chosen
cling clung
come came
creep crept
deal dealt
dig dug
draw drew drawn
dream dreamt
drink drank drunk
drive drove driven
eat ate eaten
fall fell fallen
feed fed
feel felt
fight fought
find found
flee fled
fly flew flown
forbid forbade forbidden
forget forgot forgotten
forgive forgave forgiven
freeze froze frozen
get got gotten
give gave given
go went gone
grow grew grown
hang hung
hear heard
hide hid hidden
hold held
keep kept
kneel knelt
know knew known
lay laid
lead led
learn learnt
leave left
lend lent
light lit
lose lost
make made
mean meant
meet met
pay paid
ride rode ridden
ring rang rung
rise rose risen
run ran
say said
see saw seen
seek sought
sell sold
send sent
shake shook shaken
shine shone
shoot shot
show shown
shrink shrank shrunk
sing sang sung
sink sank sunk
sit sat
sleep slept
slide slid
speak spoke spoken
spend spent
spin spun
spring sprang sprung
stand stood
steal stole stolen
stick stuck
sting stung
strike struck
swear swore sworn
sweep swept
swim swam swum
swing swung
take took taken
teach taught
tear tore torn
tell told
think thought
throw threw thrown
understand understood
wake woke woken
wear wore worn
weep wept
win won
withdraw withdrew withdrawn
write wrote written
child children
foot feet
goose geese
half halves
knife knives
leaf leaves
life lives
loaf loaves
man men
mouse mice
person people
shelf shelves
thief thieves
tooth teeth
wife wives
wolf wolves
woman women
photo photograph photography
`

/** From the stem of a form to the stem of its word. */
const stems: ReadonlyMap<string, string> = new Map(
  families
    .trim()
    .split("\n")
    .flatMap((family) => {
      const [word = "", ...forms] = family.split(" ").map(porterStem)
      return forms.filter((form) => form !== word).map((form) => [form, word] as const)
    })
)

/** The stem of the word that a stem is a form of; itself when it is none. */
export const regularStem = (stem: string): string => stems.get(stem) ?? stem
