// Length: how far a test goes.
// L1  `npm test` goes the short way, `npm run check -- --long` the whole way: more kills, more lives, more seeds.
// L2  A test proves the same both ways. What is short has met every kind of thing that it is about.

export const isLong = process.env["REVERIE_LENGTH"] === "long"

export const atLength = <A>(short: A, whole: A): A => (isLong ? whole : short)
