// Labelled pairs: what was known, what is learnt later, and whether the later one takes its place.
// A1  No one looks at which of those held out fail while the rules are changed: of these only the two figures are read.

/** Known, learnt, and whether the place is taken. */
export type Pair = readonly [known: string, learnt: string, replaces: boolean]

export const development: ReadonlyArray<Pair> = [
  ["Nora lives in Bergen", "Nora lives in Oslo now", true],
  ["ann lives in Bergen", "ann moved to Oslo in the week before 2 March 2024", true],
  ["Nora works at the shipyard", "Correction: Nora works at the airport, not at the shipyard", true],
  ["Bob works at the shipyard in Hamburg", "Bob no longer works at the shipyard; Bob works at the airport now", true],
  ["Nora's favourite colour is blue", "Nora's favourite colour is green now", true],
  ["Carla said: The Birch has berth 7", "Carla said: The Birch has berth 3 now", true],
  ["Nora said: The meeting is on Tuesday", "Nora said: The meeting is on Thursday", true],
  ["Bob said: The weekly meeting is on Tuesday at 10", "Bob said: The weekly meeting moved to Thursday at 9", true],
  [
    "Carla said: The Wi-Fi password of the office is zanzibar-4471",
    "Carla said: The Wi-Fi password is now quixotic-8812",
    true
  ],
  [
    "Finn's dentist appointment is on 3 December 2026 at 15:30",
    "Finn's dentist appointment was moved to 10 December 2026 at 9:00",
    true
  ],
  [
    "Carla said: The office printer is on the second floor",
    "Carla said: Actually, the office printer is on the third floor now",
    true
  ],
  ["Nora works as a nurse", "Nora doesn't work as a nurse any more", true],
  ["Nora is a vegetarian", "Nora is not a vegetarian any more", true],
  ["Nora is vegetarian", "Nora isn't vegetarian anymore", true],
  ["Nora is a vegetarian", "Nora is not a nurse any more", false],
  ["Nora is 34 years old", "On 7 January 2026 Nora turned 35 years old", true],
  ["Ivo said: The door code is 1234", "Ivo said: The new door code is 9876", true],
  ["Ivo said: The door code is 1234", "Ivo said: The old door code is 9876", false],
  ["Ivo said: The next meeting is on Tuesday", "Ivo said: The last meeting is on Thursday", false],
  ["Nora likes tea", "Nora likes coffee", false],
  ["Nora has a cat called Pixel", "Nora has a dog called Biscuit", false],
  ["Nora lives in Bergen", "Nora lives in Norway", false],
  ["Nora lives in Bergen", "Nora lives in Bergen, near the harbour", false],
  ["Nora works at the shipyard", "Nora also works at the airport", false],
  ["Nora's favourite colour is blue", "Nora's favourite drink is tea", false],
  ["Nora's favourite colour is blue", "Ivo's favourite colour is green", false],
  ["Nora said: The meeting is on Tuesday", "Nora said: The meeting is at 10", false],
  ["Bob works at the airport", "Ann said: Bob works at the shipyard", false],
  ["Nora lives in Bergen and has a cat", "Nora lives in Oslo now", false],
  ["Nora's birthday is on 14 March 1985", "Nora's birthday is on 14 March", false],
  ["Ivo said: The password of the boathouse is elm", "Ivo said: The password of the office is oak", false]
]

export const heldOut: ReadonlyArray<Pair> = [
  ["Fatima lives in Turin", "Fatima no longer lives in Turin", true],
  ["Moritz's phone number is 5550100", "Moritz's phone number is 5550199", true],
  ["Elin said: The choir practice is on Monday at 18:00", "Elin said: The choir practice is on Monday at 19:30", true],
  ["Ravi's favorite film is Alien", "Ravi's favourite film is Stalker these days", true],
  ["Joan works for the post office", "Joan works for the museum now", true],
  ["Birgit is 34 years old", "Birgit turned 35 years old on 2 March 2024", true],
  ["Fatima plays the flute", "Fatima plays the drums", false],
  ["Moritz visited Rome", "Moritz visited Turin", false],
  ["Elin said: The pier is in the north", "Elin said: The pier is on the map", false],
  ["Joan lives in Leiden", "Joan's sister lives in Utrecht now", false],
  ["Ravi knows Kerstin", "Ravi no longer works at the mill", false],
  ["Birgit said: The fair is in May 2024", "Birgit said: The parade is in June 2024", false]
]
