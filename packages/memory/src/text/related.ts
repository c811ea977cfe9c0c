// Related: English words that stand for each other, or for a kind of one another.
// Owns a small list of everyday English. Leaves to rounds.ts when a question is asked in other words, and what that counts.
// L1  It is a list of the language, of what anyone talks about: no one's names, no subject that only some speak of.
// L2  A general word leads to its kinds, a kind never to the general word: who asks for a dog is not told of pets.

import { termsOf } from "./tokens.ts"

/** Each line: words for the same; after the colon, what else speaks of it: kinds, parts, what one does with it. */
const groups = `
family fam relative relatives: kid child son daughter husband wife partner parent mother mom mum father dad brother sister sibling grandma grandmother grandpa grandfather aunt uncle cousin niece nephew
kid child: son daughter baby toddler boy girl
child childhood: young
mother mom mum mommy
father dad daddy
parent: mother mom mum father dad
grandparent: grandma grandmother grandpa grandfather
grandma grandmother granny
grandpa grandfather
sibling: brother sister
spouse: husband wife
partner: husband wife boyfriend girlfriend fiance
relationship: dating single married divorced breakup boyfriend girlfriend husband wife partner
marry wedding
friend buddy pal: roommate neighbor colleague teammate
neighbor neighbour
colleague coworker
youth teen teenager: young
team group club crew organization
baby: pregnant
pet: dog puppy pup cat kitten kitty bird parrot fish turtle hamster rabbit snake
dog puppy pup
cat kitten kitty
animal: dog cat horse bird fish turtle rabbit snake lion elephant bear dinosaur
instrument: guitar piano violin drum flute clarinet cello trumpet saxophone keyboard bass ukulele harp
music: song band concert album singer guitar piano
musician artist singer band: concert album
concert gig
sing: song
art artwork: painting drawing sketch sculpture pottery photography
craft: pottery knitting sewing woodwork
paint: canvas watercolor
photo picture pic image photograph
photography: camera
dance: ballet salsa tango contemporary
perform performance: dance concert stage sing
theater theatre: play stage musical actor
sport: basketball football soccer baseball tennis hockey golf volleyball swimming running surfing skiing boxing climbing
exercise workout fitness: gym yoga running jog swimming hiking cycling weightlifting
run: marathon race jog
swim: pool lake
game: chess videogame console player
gaming: videogame console playstation nintendo xbox
hobby pastime interest activity: hiking camping painting reading cooking baking gardening fishing dancing swimming running cycling pottery yoga photography gaming knitting writing
event: concert festival parade conference party wedding ceremony fair tournament competition contest workshop meeting meetup show exhibition gala marathon race
competition contest comp tournament: race match
celebrate: party birthday anniversary
holiday: christmas thanksgiving easter halloween
date: anniversary birthday
trip travel vacation holiday journey getaway: roadtrip flight tour cruise hike camping
roadtrip: road drive
travel explore
fly flight: plane airport
place location spot: beach park mountain city country museum restaurant
outdoors nature: hike camping mountain forest lake beach park trail
hike: trail mountain
camp: tent campfire
landscape: sunset sunrise mountain lake beach forest
water: lake river sea ocean beach
city town: london paris rome berlin tokyo barcelona york boston chicago seattle
country: france italy spain japan germany england canada mexico brazil sweden ireland india china greece thailand australia
state: california florida texas
abroad: country travel
food dish meal cuisine: pizza pasta salad soup cake cookie sushi taco sandwich curry chicken steak dessert breakfast lunch dinner recipe
cook: recipe dinner meal
bake: cake bread cookie
eat: food dinner lunch breakfast
dessert sweet: cake cookie pie pastry chocolate cupcake
drink beverage: coffee tea wine beer juice smoothie
restaurant cafe diner
book novel: reading author series
read: book
write: book blog journal story poem script
movie film: cinema show series
show series: episode
watch: movie film show
car vehicle: truck van motorcycle
bike bicycle
drive: car road
job work career profession occupation: teacher nurse engineer manager company office business
business biz company startup: store shop studio
store shop boutique
hire job
fired layoff
retire pension
school college university: class course degree student teacher
study education edu: school college university degree class course
class course lesson workshop
subject: math history science
degree: bachelor master diploma
exam test
teach mentor coach train instruct
learn study practice
clothes clothing outfit: dress shirt hoodie shoe jacket jeans pants sweater
wear: clothes dress shirt
shoe: sneaker boot
jewelry: necklace ring bracelet earring
gift present
home apartment: room kitchen garden
furniture: table chair couch sofa bed
plant: flower tree garden rose
garden: flower plant vegetable
health: doctor hospital illness sick injury pain
doctor: hospital nurse checkup
hospital: doctor surgery
injury hurt injure: ankle knee broken
illness disease sick: cancer flu diabetes allergy
stress: relax therapy calm anxiety
destress relax unwind: calm therapy yoga
sleep: bed tired
diet: healthy weight
feeling emotion: happy sad angry excited proud scared nervous grateful
happy glad thrilled excited
sad upset
scared afraid frightened
worry nervous anxious
angry mad
proud: achievement
religion religious: church faith god pray
politics political: vote election liberal conservative policy government
money financial finance: save loan debt budget invest salary
plan goal aim ambition: dream hope want
volunteer charity: shelter donate fundraiser community
help support assist
encourage motivate inspire support
participate attend join: volunteer enroll
promote advertise market: ad campaign offer promotion
buy purchase: shopping store
sell: customer sale
enjoy love like
favorite favourite fave
begin start
open launch start
create make build: design
grow expand improve
quit leave resign
lose lost: fired
fix repair
receive get
choose decide pick
research search
move relocate
discuss chat talk
talk speak: speech
advice tip suggestion recommend
opinion think feel
difficult hard tough challenge struggle obstacle setback
success achievement accomplishment: win award proud
award prize: trophy medal win
win: first champion trophy
important special meaningful matter
beautiful gorgeous pretty stunning
fun enjoyable exciting
kind nice
smart clever
big large huge
small little tiny
color colour: red blue green yellow purple pink orange black white
season: spring summer autumn winter
weather: rain snow storm sunny
symbol: flag
phone: call text
computer laptop pc
internet online: website
video: youtube channel
die death: funeral
accident crash
old age: birthday year
name: called
`

interface Related {
  readonly term: string
  readonly word: string
}

const relatedByTerm = (): ReadonlyMap<string, ReadonlyArray<Related>> => {
  const found = new Map<string, Map<string, Related>>()
  for (const group of groups.trim().split("\n")) {
    const [same = "", kinds = ""] = group.split(":").map((part) => part.trim().split(/\s+/).filter(Boolean).join(" "))
    const words = `${same} ${kinds}`.trim().split(" ")
    for (const term of termsOf(same)) {
      const others = found.get(term) ?? new Map<string, Related>()
      found.set(term, others)
      for (const word of words) {
        const [other = ""] = termsOf(word)
        if (other !== term) others.set(other, { term: other, word })
      }
    }
  }
  return new Map([...found].map(([term, others]) => [term, [...others.values()]]))
}

const related = relatedByTerm()

/** The words that speak of the same as a term, or of a kind of it; most terms have none. */
export const relatedTo = (term: string): ReadonlyArray<Related> => related.get(term) ?? []
