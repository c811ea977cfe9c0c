// Labelled: short conversations, each with what is to be learnt of it. By these the rules are made better.
// Owns two thirds of the cases between people. Leaves those with an assistant at work to `labelled-orders.ts`, the third that is
// held out to `labelled-held-out.ts`, and their form to `dream-case.ts`.
// L1  A label is words: who, and what has to stand in the fact, each in any of the forms between bars. It begins a word.
// L2  `learn` has to be learnt. `may` is true as well, and counts neither for nor against. All else that is learnt is wrong.
// L3  Case n of the list held out is of the same kind as cases 2n and 2n + 1 of this one.

import type { DreamCase } from "./dream-case.ts"
import { ordersAtWork } from "./labelled-orders.ts"

export const development: ReadonlyArray<DreamCase> = [
  {
    kind: "home",
    said: [
      ["Tomas", "Guess what, we finally moved to Bergen last month!"],
      ["Ilse", "No way! How is the new place?"],
      ["Tomas", "Small, but there's a balcony over the harbour."]
    ],
    learn: [["Tomas", "moved", "Bergen", "January 2024"]],
    may: [["Tomas", "balcony"]]
  },
  {
    kind: "home",
    said: [
      ["Priya", "Are you still living out by the airport?"],
      ["Owen", "Nope, I rent a room near the old mill now."],
      ["Priya", "Nice."]
    ],
    learn: [["Owen", "rent|lives", "mill"]]
  },
  {
    kind: "work",
    said: [
      ["Lena", "I started as a nurse at Saint Olaf hospital two weeks ago."],
      ["Marc", "Congratulations! I am so happy for you."]
    ],
    learn: [["Lena", "nurse", "Olaf"]]
  },
  {
    kind: "work",
    said: [
      ["Dev", "Rough week. Got laid off from the shipyard on Monday."],
      ["Ana", "Oh no, I'm so sorry to hear that."],
      ["Dev", "Thanks. I'm retraining as an electrician."]
    ],
    learn: [
      ["Dev", "laid off", "shipyard"],
      ["Dev", "electrician"]
    ],
    may: [["Dev", "rough week"]]
  },
  {
    kind: "family",
    said: [
      ["Greta", "My brother Anton is a pilot, and my sister runs a flower shop in Ghent."],
      ["Paul", "What a family!"]
    ],
    learn: [
      ["Greta", "Anton", "pilot"],
      ["Greta", "flower", "Ghent"]
    ]
  },
  {
    kind: "family",
    said: [
      ["Sam", "Do you have kids?"],
      ["Noor", "Twins, two girls. They turned six in January."],
      ["Sam", "Lovely age."]
    ],
    learn: [["Noor", "twins|two girls"]],
    may: [["Noor", "six"]]
  },
  {
    kind: "animals",
    said: [
      ["Hugo", "We adopted a greyhound called Biscuit yesterday."],
      ["Maya", "Aww, that's so cute!"]
    ],
    learn: [["Hugo", "greyhound", "Biscuit", "28 February 2024"]]
  },
  {
    kind: "animals",
    said: [
      ["Ida", "How's your cat doing?"],
      ["Rafael", "Pepper is fine again. The vet said it was only a tooth."],
      ["Ida", "Phew!"]
    ],
    learn: [["Pepper", "fine"]],
    may: [["vet", "tooth"]]
  },
  {
    kind: "dates",
    said: [
      ["Yusuf", "My driving test is tomorrow at nine."],
      ["Clara", "Fingers crossed!"]
    ],
    learn: [["Yusuf", "driving test", "1 March 2024"]]
  },
  {
    kind: "dates",
    said: [
      ["Bea", "Sorry that I was quiet. I ran the coast marathon last Sunday and slept for two days."],
      ["Leo", "Respect!"]
    ],
    learn: [["Bea", "ran", "marathon", "25 February 2024"]]
  },
  {
    kind: "tastes",
    said: [
      ["Kofi", "What do you like to read?"],
      ["Edda", "Mostly crime novels. I can't stand poetry."]
    ],
    learn: [
      ["Edda", "crime novels"],
      ["Edda", "can't stand", "poetry"]
    ]
  },
  {
    kind: "tastes",
    said: [
      ["Jonas", "I prefer tea to coffee, and I always take it without sugar."],
      ["Vera", "Noted!"]
    ],
    learn: [
      ["Jonas", "prefer", "tea"],
      ["Jonas", "without sugar"]
    ]
  },
  {
    kind: "health",
    said: [
      ["Mina", "Careful with the cake, I'm allergic to hazelnuts."],
      ["Otto", "Good to know, thanks for telling me."]
    ],
    learn: [["Mina", "allergic", "hazelnut"]]
  },
  {
    kind: "health",
    said: [
      ["Rosa", "Why are you limping?"],
      ["Finn", "I tore a muscle at football practice on Tuesday."],
      ["Rosa", "Ouch."]
    ],
    learn: [["Finn", "tore", "muscle"]]
  },
  {
    kind: "things",
    said: [
      ["Aram", "Sold my old van today. I got 3,000 euros for it."],
      ["Jule", "Well done!"]
    ],
    learn: [["Aram", "sold", "van", "29 February 2024"]],
    may: [["Aram", "3,000"]]
  },
  {
    kind: "things",
    said: [
      ["Wanda", "Which camera do you use?"],
      ["Theo", "A Fuji that my aunt gave me."],
      ["Wanda", "The pictures are so sharp!"]
    ],
    learn: [["Theo", "Fuji", "aunt"]]
  },
  {
    kind: "plans",
    said: [
      ["Salma", "We're getting married in June, in my parents' garden."],
      ["Nils", "Wonderful! Congratulations to both of you!"]
    ],
    learn: [["Salma", "married", "June"]]
  },
  {
    kind: "plans",
    said: [
      ["Erik", "I've booked the ferry to Crete for 4 May."],
      ["Dana", "Lucky you."],
      ["Erik", "I can send you the timetable if you like."]
    ],
    learn: [["Erik", "booked", "Crete", "4 May"]]
  },
  {
    kind: "answers",
    said: [
      ["Ruth", "When did you move into that flat?"],
      ["Cem", "In 2019."]
    ],
    learn: [["Cem", "move", "flat", "2019"]]
  },
  {
    kind: "answers",
    said: [
      ["Pia", "Where did you grow up?"],
      ["Luca", "In a village near Turin, with my grandparents."],
      ["Pia", "That sounds peaceful."]
    ],
    learn: [["Luca", "grow up|grew up", "Turin"]]
  },
  {
    kind: "several",
    said: [
      ["Hanna", "I'm vegetarian. I play the cello in a quartet. My oldest friend lives in Lagos."],
      ["Boris", "So much news!"]
    ],
    learn: [
      ["Hanna", "vegetarian"],
      ["Hanna", "cello"],
      ["Hanna", "friend", "Lagos"]
    ]
  },
  {
    kind: "several",
    said: [
      ["Selim", "I teach chemistry at a school in Leeds."],
      ["Freya", "Oh nice, I work at the library around the corner from it."]
    ],
    learn: [
      ["Selim", "teach", "chemistry", "Leeds"],
      ["Freya", "work", "library"]
    ]
  },
  {
    kind: "corrections",
    said: [
      ["Mona", "Our shop opens at 9 on Saturdays."],
      ["Karl", "Great."],
      ["Mona", "Our shop opens at 10 on Saturdays, I mixed it up."]
    ],
    learn: [["Mona", "shop", "10", "Saturday"]],
    may: [["Mona", "shop", "9"]]
  },
  {
    kind: "corrections",
    said: [
      ["Arne", "You're from Porto, right?"],
      ["Lucia", "No, I'm from Braga."],
      ["Arne", "Right, Braga, I mixed them up again."]
    ],
    learn: [["Lucia", "Braga"]],
    may: [["Arne", "mixed"]]
  },
  {
    kind: "others",
    said: [
      ["Gita", "Mr. Okafor from the second floor is a retired judge."],
      ["Ben", "Really? I had no idea."]
    ],
    learn: [["Okafor", "retired judge"]]
  },
  {
    kind: "others",
    said: [
      ["Zoe", "Who fixed the roof?"],
      ["Ivan", "My neighbour Petra did it. She is a carpenter."],
      ["Zoe", "Handy!"]
    ],
    learn: [
      ["Petra", "roof|did it"],
      ["Petra", "carpenter"]
    ]
  },
  {
    kind: "trap: questions",
    said: [
      ["Ulla", "Do you think I should sell the boat?"],
      ["Jan", "Hm, what would you do without it?"],
      ["Ulla", "Wasn't your cousin looking for one?"]
    ]
  },
  {
    kind: "trap: questions",
    said: [
      ["Mikel", "I wonder whether the pool is open on Sundays."],
      ["Sara", "No idea. Did you look at their page?"],
      ["Mikel", "Which page do you mean? I am from Bilbao, I don't know anything here."]
    ],
    learn: [["Mikel", "Bilbao"]],
    may: [["Mikel", "doesn't know"]]
  },
  {
    kind: "trap: wishes",
    said: [
      ["Tara", "I wish I had a garden."],
      ["Emil", "If only we lived closer to the sea!"],
      ["Tara", "I'd love to have a little dog one day."]
    ]
  },
  {
    kind: "trap: wishes",
    said: [
      ["Olga", "I hope my sister gets the job in Vienna."],
      ["Piet", "It would be so nice to live in Vienna. I studied music there."]
    ],
    learn: [["Piet", "studied", "music"]]
  },
  {
    kind: "trap: jokes",
    said: [
      ["Nico", "I'm the king of Norway."],
      ["Ella", "Haha, sure you are."],
      ["Nico", "Just kidding."]
    ]
  },
  {
    kind: "trap: jokes",
    said: [
      ["Rita", "I bought a castle yesterday. Kidding! I bought a tent."],
      ["Max", "I'm so hungry I could eat a horse."]
    ],
    learn: [["Rita", "bought", "tent"]]
  },
  {
    kind: "trap: hypotheses",
    said: [
      ["Simon", "If I won the lottery, I would buy an island."],
      ["Laila", "I'd open a bakery in Paris if I had the money."]
    ]
  },
  {
    kind: "trap: hypotheses",
    said: [
      ["Agnes", "I might move to Canada next year, who knows."],
      ["Dario", "Suppose I quit my job and came with you."],
      ["Agnes", "My cousin runs a farm in Manitoba."]
    ],
    learn: [["Agnes", "cousin", "farm", "Manitoba"]]
  },
  {
    kind: "trap: hearsay",
    said: [
      ["Bruno", "I heard that the bakery on Mill Street is closing."],
      ["Katja", "Apparently the owner has gone to Spain."],
      ["Bruno", "People say he owes the bank a lot of money."]
    ]
  },
  {
    kind: "trap: hearsay",
    said: [
      ["Irma", "Rumour has it that our boss is leaving in May."],
      ["Joel", "Somebody told me that too. I signed a new contract last week, luckily."]
    ],
    learn: [["Joel", "signed", "contract"]]
  },
  {
    kind: "trap: negations",
    said: [
      ["Vito", "Did you take the job in Oslo?"],
      ["Signe", "No, I didn't take it."],
      ["Vito", "Oh well."]
    ],
    may: [["Signe", "didn't take"]]
  },
  {
    kind: "trap: negations",
    said: [
      ["Abel", "I never said that I sold the house."],
      ["Doro", "It isn't true that I have a twin, by the way. I'm an only child."]
    ],
    learn: [["Doro", "only child"]],
    may: [
      ["Abel", "never said"],
      ["Doro", "isn't true", "twin"]
    ]
  },
  {
    kind: "trap: talk",
    said: [
      ["Liv", "Good morning! How are you?"],
      ["Amir", "I'm fine, thanks! It's so good to hear from you."],
      ["Liv", "Same here. You always make me laugh. I have to go now, see you soon!"]
    ]
  },
  {
    kind: "trap: talk",
    said: [
      ["Cora", "I totally agree with you."],
      ["Hektor", "I'm glad you think so. That means a lot to me."],
      ["Cora", "I appreciate your kind words. I can't wait to see you!"]
    ]
  },
  {
    kind: "trap: orders",
    said: [
      ["Milan", "Remind me to call the bank tomorrow."],
      ["Milan", "Could you book a table for two at Luigi's?"],
      ["Milan", "Please send my report to Hedda."]
    ]
  },
  {
    kind: "trap: orders",
    said: [
      ["Astrid", "I need you to translate this letter into Dutch."],
      ["Astrid", "From now on, answer me in short sentences."],
      ["Astrid", "I want you to write a poem about my dog Rufus."]
    ]
  },
  ...ordersAtWork
]
