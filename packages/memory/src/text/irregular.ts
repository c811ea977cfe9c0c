// Irregular: English words whose forms no ending gives away.
// Owns the forms that people use. Leaves regular ones to the stemmer.

import { porterStem } from "./porter.ts"

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
