// Labelled, held out: the third of the labelled conversations that the rules are not made by.
// A1  No one looks at which of them fail while the rules are changed: of these only the two figures are read.

import type { DreamCase } from "./dream-case.ts"

export const heldOut: ReadonlyArray<DreamCase> = [
  {
    kind: "home",
    said: [
      ["Elin", "I live in a houseboat in Utrecht with three flatmates."],
      ["Gus", "That must be fun!"]
    ],
    learn: [["Elin", "houseboat", "Utrecht"]]
  },
  {
    kind: "work",
    said: [
      ["Moritz", "What are you doing these days?"],
      ["Fatima", "I drive an ambulance, mostly at night."],
      ["Moritz", "Wow, hard work."]
    ],
    learn: [["Fatima", "ambulance", "night"]]
  },
  {
    kind: "family",
    said: [
      ["Ravi", "My daughter Leela was born on 2 February!"],
      ["Joan", "Oh, congratulations! I'm so happy for you three."]
    ],
    learn: [["Ravi", "daughter", "Leela", "2 February"]]
  },
  {
    kind: "animals",
    said: [
      ["Birgit", "I keep bees behind the church. Last year they gave us forty jars of honey."],
      ["Nuno", "Forty!"]
    ],
    learn: [["Birgit", "bees", "church"]],
    may: [["Birgit", "forty jars"]]
  },
  {
    kind: "dates",
    said: [
      ["Ayla", "When are you flying to Tokyo?"],
      ["Stefan", "Next Tuesday, at noon."],
      ["Ayla", "Safe travels!"]
    ],
    learn: [["Stefan", "Tokyo", "5 March 2024"]]
  },
  {
    kind: "tastes",
    said: [
      ["Inga", "I love swing dancing, it keeps me sane."],
      ["Cyril", "I'm more of a chess person."]
    ],
    learn: [
      ["Inga", "swing"],
      ["Cyril", "chess"]
    ]
  },
  {
    kind: "health",
    said: [
      ["Tilda", "I've been wearing a hearing aid since I was ten."],
      ["Marek", "I never noticed!"]
    ],
    learn: [["Tilda", "hearing aid", "ten"]],
    may: [["Marek", "never noticed"]]
  },
  {
    kind: "things",
    said: [
      ["Pablo", "Lost my wallet on the tram this morning."],
      ["Alma", "Oh dear. Did you call them?"],
      ["Pablo", "Yes, they found it at the depot."]
    ],
    learn: [["Pablo", "lost", "wallet", "29 February 2024"]],
    may: [["Pablo", "found", "depot"]]
  },
  {
    kind: "plans",
    said: [
      ["Hedwig", "I start at the conservatory in September."],
      ["Tim", "So proud of you!"]
    ],
    learn: [["Hedwig", "conservatory", "September"]]
  },
  {
    kind: "answers",
    said: [
      ["Lars", "How many languages do you speak?"],
      ["Amina", "Four: Arabic, French, German and a bit of Danish."]
    ],
    learn: [["Amina", "four|Arabic"]]
  },
  {
    kind: "several",
    said: [
      ["Conny", "My wife is a vet. I'm at home with our son. We're from Malmö originally."],
      ["Ole", "Good to know you two!"]
    ],
    learn: [
      ["Conny", "wife", "vet"],
      ["Conny", "home", "son"],
      ["Conny", "Malmö"]
    ]
  },
  {
    kind: "corrections",
    said: [
      ["Basil", "My flight is at 7."],
      ["Wim", "OK, I'll be there."],
      ["Basil", "Sorry, it's not at 7, my flight is at 8."]
    ],
    learn: [["Basil", "flight", "8"]],
    may: [["Basil", "flight", "7"]]
  },
  {
    kind: "others",
    said: [
      ["Jytte", "The new dentist in our street is called Doctor Bloom, and she speaks Polish."],
      ["Adam", "Perfect."]
    ],
    learn: [["Bloom", "Polish"]]
  },
  {
    kind: "trap: questions",
    said: [
      ["Nell", "Have I told you about my new bike?"],
      ["Igor", "I was wondering if you could lend me yours."],
      ["Nell", "How long for?"]
    ]
  },
  {
    kind: "trap: wishes",
    said: [
      ["Kira", "I'm hoping to see the northern lights someday."],
      ["Hal", "I've always dreamed of living on a farm. I work in a bank, alas."]
    ],
    learn: [["Hal", "work", "bank"]]
  },
  {
    kind: "trap: jokes",
    said: [
      ["Ove", "My wife says I'm 200 years old, lol."],
      ["Mette", "I've told you a million times that I'm a robot, haha."]
    ]
  },
  {
    kind: "trap: hypotheses",
    said: [
      ["Ines", "Maybe I'll learn to fly when I retire."],
      ["Roy", "If I were you, I'd start tomorrow. I have a licence for gliders."]
    ],
    learn: [["Roy", "licence", "gliders"]]
  },
  {
    kind: "trap: hearsay",
    said: [
      ["Dina", "They say that the mayor bought the old station."],
      ["Walt", "I read somewhere that she has a brother in prison."]
    ]
  },
  {
    kind: "trap: negations",
    said: [
      ["Eske", "I don't have a car, so I came by train."],
      ["Mads", "I haven't been to Athens yet."]
    ],
    learn: [["Eske", "don't|doesn't", "car"]],
    may: [["Mads", "hasn't|not", "Athens"]]
  },
  {
    kind: "trap: talk",
    said: [
      ["Yann", "Long time no see! I missed you so much."],
      ["Britt", "Me too! I'm so happy to see you again."],
      ["Yann", "We should meet more often. I have no words!"]
    ]
  },
  {
    kind: "trap: orders",
    said: [
      ["Dagny", "Don't tell Frank about my present."],
      ["Dagny", "Set an alarm for 7, and wake me gently."],
      ["Dagny", "I'd like you to summarise my mail every Friday."]
    ]
  },
  {
    kind: "trap: orders at work",
    said: [
      ["Roel", "Assemble the quarterly figures and put them in the folder."],
      ["Roel", 'Then please rename the folder "March".'],
      ["Roel", "Archive it afterwards, thanks."]
    ]
  },
  {
    kind: "trap: fragments",
    said: [
      ["Sanne", "Three quick points."],
      ["Sanne", "First the invoices, then the rest."],
      ["Sanne", "Time for lunch!"]
    ]
  },
  {
    kind: "orders with facts",
    said: [
      ["Jasper", "Reserve the blue room for Monday. Our meetings begin at ten."],
      ["Jasper", "Compare both offers. The second supplier delivers from Porto."]
    ],
    learn: [
      ["Jasper", "meetings", "ten"],
      ["supplier", "Porto"]
    ]
  },
  {
    kind: "notes",
    said: [
      ["Xenia", "Please note that our gate closes at six."],
      ["Xenia", "Don't forget that Paco speaks no English."]
    ],
    learn: [
      ["Xenia", "gate", "six"],
      ["Paco", "no English"]
    ]
  }
]
