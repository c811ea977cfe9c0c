// StopWords: words of a question that find everything and therefore nothing.
// Owns the list, in English. It is for questions only: whatever is told is indexed whole.

import { termsOf } from "./tokens.ts"

const words = `
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever every few for from further get gets getting got
had has have having he her here hers herself him himself his how i if in into is it its itself just let lets me might
more most much must my myself no nor not now of off on once one only onto or other ought our ours ourselves out over own
per please rather really s same shall she should since so some such t than that the their theirs them themselves then
there these they this those though through till to too under until up upon us very was we were what whatever when where
whether which while who whoever whom whose why will with within without would yes yet you your yours yourself yourselves
d ll m re ve don didn doesn isn wasn weren aren hasn haven hadn won wouldn couldn shouldn mustn ain tell
`

/** As terms: folded and stemmed. */
export const stopTerms: ReadonlySet<string> = new Set(termsOf(words))
