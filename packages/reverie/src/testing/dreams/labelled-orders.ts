// LabelledOrders: what people say to an assistant that works for them, with what is to be learnt of it.
// Owns the last cases that the rules are made by. Leaves those between people to `labelled.ts`, where L1 to L3 stand.

import type { DreamCase } from "./dream-case.ts"

export const ordersAtWork: ReadonlyArray<DreamCase> = [
  {
    kind: "trap: orders at work",
    said: [
      ["Mona", "Then please assign the birch cupboard to Ulf."],
      ["Mona", "Prepare the welcome of the auditors: the room, the coffee."],
      ["Mona", "Share the list, and hang it up."]
    ]
  },
  {
    kind: "trap: orders at work",
    said: [
      ["Bram", 'Decompose the goal "Audit" into steps.'],
      ["Bram", 'file a record of the ship "Heron".'],
      ["Bram", "Two copies, please."]
    ]
  },
  {
    kind: "trap: fragments",
    said: [
      ["Pia", "Now the wedding itself."],
      ["Pia", "Two things at once."],
      ["Pia", "Time to go."]
    ]
  },
  {
    kind: "trap: fragments",
    said: [
      ["Otto", "Then look first: the drawer, the box."],
      ["Otto", "Nothing more for today."],
      ["Otto", "Next topic."]
    ]
  },
  {
    kind: "orders with facts",
    said: [["Nadia", "Order the paint. The hall is 40 square metres."]],
    learn: [["hall", "40"]]
  },
  {
    kind: "orders with facts",
    said: [
      ["Kofi", "Label the boxes. I keep the red ones in the cellar."],
      ["Kofi", "Measure the door, it sticks. The carpenter lives next door."]
    ],
    learn: [
      ["Kofi", "red", "cellar"],
      ["carpenter", "next door"]
    ]
  },
  {
    kind: "notes",
    said: [
      ["Ruth", "Remember that the key hangs behind the barrel."],
      ["Ruth", "Remember to water the plants."]
    ],
    learn: [["key", "barrel"]]
  },
  {
    kind: "notes",
    said: [
      ["Zeno", "Note: Sam left the company last week."],
      ["Zeno", "FYI, the office is closed on 4 March."],
      ["Zeno", "Hmm, not what I meant. Order #5521 arrived damaged."]
    ],
    learn: [
      ["Sam", "left", "company"],
      ["office", "closed", "4 March"],
      ["5521", "damaged"]
    ]
  }
]
