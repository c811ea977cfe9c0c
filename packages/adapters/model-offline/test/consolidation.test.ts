import { assert, describe, it } from "@effect/vitest"

import { rowsFor } from "./asked.ts"
import { AT_A_LOSS, CAN, SELF } from "../src/calls.ts"

const DAY = "2024-02-29T09:30Z"

const factsOf = (...said: ReadonlyArray<string>): ReadonlyArray<string> =>
  rowsFor("consolidate", ...said.map((line, index) => `[m/${index}/0] ${DAY} ${line}`))
    .flatMap(({ facts }) => facts as ReadonlyArray<{ readonly text: string }>)
    .map(({ text }) => text)

const importanceOf = (line: string): number =>
  Number(rowsFor("consolidate", `[m/1/0] ${DAY} ${line}`)[0]?.["importance"])

describe("facts", () => {
  it("O6 the answer is one object a line, with importance, facts and entities", () => {
    const rows = rowsFor(
      "consolidate",
      `[m/1/0] ${DAY} Nora: I met Ivo in Lisbon yesterday.`,
      "no line of it",
      `[j/entry_2_0] ${DAY} journal: The crane is broken.`
    )
    assert.deepStrictEqual(rows, [
      {
        id: "m/1/0",
        importance: 8,
        facts: [{ text: "Nora met Ivo in Lisbon on 28 February 2024", entities: ["Nora", "Ivo", "Lisbon"] }]
      },
      { id: "j/entry_2_0", importance: 3, facts: [{ text: "The crane is broken", entities: [] }] }
    ])
  })

  it("N1 N2 a name is whole, and known where it begins a sentence when it stands elsewhere", () => {
    const entitiesOf = (...said: ReadonlyArray<string>) =>
      rowsFor("consolidate", ...said.map((line, index) => `[m/${index}/0] ${DAY} ${line}`)).flatMap(({ facts }) =>
        (facts as ReadonlyArray<{ readonly entities: ReadonlyArray<string> }>).map(({ entities }) => entities)
      )
    assert.deepStrictEqual(
      entitiesOf(
        "Captain Mara of the Heron: The Duchess of Merrow has a new mast.",
        "Captain Mara of the Heron: I saw the North Star at Elm.",
        "Ann: Dinner Sunday is at Annabel's.",
        "Ann: Elm has a new roof."
      ),
      [
        ["Captain Mara of the Heron", "Duchess of Merrow"],
        ["Captain Mara of the Heron", "North Star", "Elm"],
        ["Ann", "Annabel"],
        ["Ann", "Elm"]
      ]
    )
    assert.deepStrictEqual(entitiesOf("Ann: North Star needs two tugs.", "Ann: Elm has a new roof."), [
      ["Ann", "North Star"],
      ["Ann"]
    ])
  })

  it("S6 two things of oneself that may change are two facts", () => {
    assert.deepStrictEqual(factsOf("Ann: My name is Ann and I live in Bergen."), [
      "Ann's name is Ann",
      "Ann lives in Bergen"
    ])
    assert.deepStrictEqual(factsOf("Ann: I live in Bergen, and my dentist is Ivo."), [
      "Ann lives in Bergen",
      "Ann's dentist is Ivo"
    ])
    assert.deepStrictEqual(factsOf("Ann: I live in Bergen and Oslo."), ["Ann lives in Bergen and Oslo"])
    assert.deepStrictEqual(factsOf("Ann: I live in Bergen and I love the rain there."), [
      "Ann lives in Bergen and Ann loves the rain there"
    ])
  })

  it("S2 pronouns of the first person become the speaker's name, with the verb that belongs to it", () => {
    assert.deepStrictEqual(
      factsOf(
        "Nora: I'm a baker and I really love my oven.",
        "Nora: I don't drink, I've never smoked and I'd rather walk.",
        "Nora: My sister gave me her old boat.",
        "Nora: We've bought our house, they helped us."
      ),
      [
        "Nora is a baker and Nora really loves Nora's oven",
        "Nora doesn't drink, Nora has never smoked and Nora would rather walk",
        "Nora's sister gave Nora her old boat",
        "Nora and others have bought Nora's house, they helped Nora and others"
      ]
    )
  })

  it("S2 what no longer holds, and what holds of several, keeps its verb", () => {
    assert.deepStrictEqual(
      factsOf(
        "Nora: I no longer work at the shipyard.",
        "Nora: Marta and I are divorced.",
        "Nora: My sister and I live in Graz.",
        "Nora: The crane broke and I work at the mill."
      ),
      [
        "Nora no longer works at the shipyard",
        "Marta and Nora are divorced",
        "Nora's sister and Nora live in Graz",
        "The crane broke and Nora works at the mill"
      ]
    )
  })

  it("S2 N3 who is called in small letters is called so in facts, and meant by the same name written large", () => {
    const rows = rowsFor(
      "consolidate",
      `[a] ${DAY} ann: I live in Bergen.`,
      `[b] ${DAY} ann: Bob's birthday is on 2 July.`,
      `[c] ${DAY} bob: My sister will see Will.`,
      `[d] ${DAY} will: I have a dog.`
    )
    assert.deepStrictEqual(
      rows.flatMap(({ facts }) => facts),
      [
        { text: "ann lives in Bergen", entities: ["ann", "Bergen"] },
        { text: "ann said: Bob's birthday is on 2 July", entities: ["ann", "bob"] },
        { text: "bob's sister will see Will", entities: ["will", "bob"] },
        { text: "will has a dog", entities: ["will"] }
      ]
    )
  })

  it("G3 what is no word of any language teaches nothing", () => {
    assert.deepStrictEqual(factsOf("Nora: asdf qwer zxcv", "Nora: hjkl xxx"), [])
    assert.lengthOf(factsOf("Nora: Vivo a Roma con mia moglie.", "Nora: mam psa i kota"), 2)
  })

  it("S2 you is the other one, where there is one other", () => {
    assert.deepStrictEqual(factsOf("Nora: I saw you at your desk.", "Ivo: Hi!"), ["Nora saw Ivo at Ivo's desk"])
    assert.deepStrictEqual(factsOf("Nora: I saw you at your desk.", "Ivo: Hi!", "Eva: Hi!"), [
      "Nora saw you at your desk"
    ])
  })

  it("P1 quotations are kept as they are", () => {
    assert.deepStrictEqual(factsOf('Nora: I read "I and my cat" twice.'), ['Nora read "I and my cat" twice'])
  })

  it("S2 a dropped subject is the speaker, an order is none", () => {
    assert.deepStrictEqual(factsOf("Nora: Sold my old boat last year!", "Nora: Take the left door, please."), [
      "Nora sold Nora's old boat in 2023"
    ])
  })

  it("S1 the requests of a list are none, also where all of it stands on one line", () => {
    const asked =
      'The course is laid out. - Add the goal "Lay out the buoys" below "goal_1" then - Look up the tide of day 22'
    assert.deepStrictEqual(factsOf(`Nora: ${asked}`), factsOf("Nora: The course is laid out."))
    assert.deepStrictEqual(factsOf("Nora: I bought - at last - a boat."), ["Nora bought - at last - a boat"])
  })

  it("N2 an order is none, whatever verb it begins with, nor is what says please", () => {
    const orders = [
      "Then please assign the Birch berth to the Aurora.",
      'Tag the goal "Audit" in green.',
      "Compress the old logs, and mount the disk.",
      "Polish it.",
      'Rename "March" to "April".',
      "Sketch a map of the harbour.",
      "Ok, now sweep the floor.",
      "Two tables, please: the long ones.",
      "Water the plants that are on the sill."
    ]
    assert.deepStrictEqual(factsOf(...orders.map((order) => `Nora: ${order}`)), [])
    assert.deepStrictEqual(factsOf("Nora: Water the plants. The hall is 40 square metres."), [
      "Nora said: The hall is 40 square metres"
    ])
  })

  it("S1 what one is asked to remember is a fact, to do something is none", () => {
    const said = [
      "Please remember that the key hangs behind the barrel.",
      "Note: the crane is broken.",
      "Remember to call Ivo."
    ]
    assert.deepStrictEqual(factsOf(...said.map((line) => `Nora: ${line}`)), [
      "Nora said: the key hangs behind the barrel",
      "Nora said: the crane is broken"
    ])
  })

  it("V1 V2 a verb that another subject has, or none, is no order", () => {
    const told = [
      "Love the sea.",
      "Hurt my knee badly.",
      "Lost my job in May.",
      "Besides the harbour there is a mill.",
      "Dinner the other day was a feast.",
      'Film "The Quay" won a prize.',
      "Friends my age are all married.",
      "Vivo a Roma con mia moglie.",
      "Monday the crane broke.",
      "I taught my daughter to say please."
    ]
    assert.lengthOf(factsOf(...told.map((line) => `Nora: ${line}`)), told.length)
  })

  it("N1 a wish or a courtesy without its subject is none, nor what says of no one what it says", () => {
    const said = [
      "Can't wait to see it all come together.",
      "Wish I was that strong.",
      "Hope the crane holds.",
      "Here's to new heights and all their trials.",
      "Reminds me of my time in Rome.",
      "Means a lot to us."
    ]
    assert.deepStrictEqual(factsOf(...said.map((line) => `Nora: ${line}`)), [])
    assert.deepStrictEqual(factsOf("Nora: I used to ride with my dad."), ["Nora used to ride with Nora's dad"])
  })

  it("N3 a few words without a verb state nothing, but where they answer or have a number", () => {
    const said = ["Now the regatta itself.", "Two things at once.", "Time to go.", "Nothing more for today."]
    assert.deepStrictEqual(factsOf(...said.map((line) => `Nora: ${line}`)), [])
    assert.deepStrictEqual(factsOf("Ivo: How many dogs do you have, Nora?", "Nora: Two of them."), [
      "Nora told Ivo how many dogs Nora has: Two of them"
    ])
    const kept = ["High water at 11:35.", "The Aurora lies at Birch.", "Meine Katze heißt Mimi.", "Dogs love her."]
    assert.lengthOf(factsOf(...kept.map((line) => `Nora: ${line}`)), kept.length)
  })

  it("S5 an answer says what it was asked about, and no question is a fact", () => {
    assert.deepStrictEqual(
      factsOf("Ivo: Good morning. How long have you been married, Nora?", "Nora: Five years already!"),
      ["Nora told Ivo how long Nora has been married: Five years already"]
    )
    assert.deepStrictEqual(factsOf("Ivo: Do you have any pets?", "Nora: I have a dog and a cat."), [
      "Nora told Ivo whether Nora has any pets: Nora has a dog and a cat"
    ])
    assert.deepStrictEqual(factsOf("Ivo: Got any plans for the summer?", "Nora: I want to see Rome."), [
      "Nora told Ivo about any plans for the summer: Nora wants to see Rome"
    ])
    assert.deepStrictEqual(factsOf("Ivo: What's up?", "Nora: I bought a kite."), ["Nora bought a kite"])
    // What it means is not known.
    assert.deepStrictEqual(factsOf("Ivo: Did they like it?", "Nora: I bought a kite."), ["Nora bought a kite"])
  })

  it("S4 no pronoun without its noun: it is reported with the sentence that has it, or not at all", () => {
    assert.deepStrictEqual(factsOf("Nora: It's special to me.", "Nora: They always brighten up my whole day!"), [])
    assert.deepStrictEqual(factsOf("Nora: I grow sunflowers in the yard. They brighten up my day."), [
      "Nora grows sunflowers in the yard. They brighten up Nora's day"
    ])
    assert.deepStrictEqual(factsOf("Nora: I went to a support group yesterday and it was so powerful."), [
      "Nora went to a support group on 28 February 2024 and it was so powerful"
    ])
    assert.deepStrictEqual(factsOf("Ivo: Look at the lake!", "Nora: I love it, really."), [])
    assert.deepStrictEqual(factsOf("Nora: I think that Rome is far."), ["Nora thinks that Rome is far"])
  })

  it("S2 a question of another day is not what is answered", () => {
    const rows = rowsFor(
      "consolidate",
      `[a] 2024-02-01T09:30Z Ivo: How long have you been married?`,
      `[b] ${DAY} Nora: I bought a kite.`
    )
    assert.deepStrictEqual(rows[1]?.["facts"], [{ text: "Nora bought a kite", entities: ["Nora"] }])
  })

  it("S2 a title before a name ends no sentence", () => {
    assert.deepStrictEqual(factsOf("Nora: I sold my piano to Mr. Obruchev. Dr. Ames lent me her cart."), [
      "Nora sold Nora's piano to Mr. Obruchev",
      "Dr. Ames lent Nora her cart"
    ])
  })

  it("S1 questions, greetings, thanks and praise are no facts", () => {
    assert.deepStrictEqual(
      factsOf(
        "Nora: Hey Ivo! How are you?",
        "Ivo: Thanks, Nora! That's awesome! You're the best.",
        "Nora: Let's go there. Good luck!"
      ),
      []
    )
  })

  it("S3 at most four facts a line, the most telling ones; that a picture was shown is none", () => {
    const said = "Nora: I have a dog. I have a cat. I have 2 birds. I have a horse near Rome. I have no fish."
    const told = ["Nora has a dog", "Nora has 2 birds", "Nora has a horse near Rome", "Nora has no fish"]
    assert.deepStrictEqual(factsOf(said), told)
    assert.deepStrictEqual(factsOf(`${said} [image: a photo of two birds]`), told)
    assert.deepStrictEqual(factsOf("Nora: [image: a photo of two birds]"), [])
  })

  it("C2 what the offline model said itself is no fact", () => {
    assert.deepStrictEqual(factsOf(`clerk: ${CAN}stamp. Ask in plain words.`), [])
    assert.deepStrictEqual(factsOf(`clerk: ${AT_A_LOSS}`, `clerk: ${SELF}`, 'clerk: Nora said: "I have a dog."'), [])
  })
})

describe("importance", () => {
  it("O6 events, dates, numbers, names and negations weigh more than talk", () => {
    const [plan, dated, third, question, greeting] = [
      "Nora: I want a bigger oven.",
      "Nora: I bought 2 ovens in Graz yesterday.",
      "Nora: The oven is warm.",
      "Nora: Is the oven warm?",
      "Nora: Hey there!"
    ].map(importanceOf)
    assert.isAbove(Number(dated), Number(plan))
    assert.isAbove(Number(plan), Number(third))
    assert.isAbove(Number(third), 2)
    assert.isAtMost(Number(question), 2)
    assert.isAtMost(Number(greeting), 2)
  })
})
