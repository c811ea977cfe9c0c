// Wording: when two facts say the same in the same words.
// Owns the form in which words are compared. Leaves what is alike, but not the same, to candidates.ts and the model.
// W1  Case, spacing, quotation marks and the end of the sentence make no difference; every other sign does: "C" is not
//     "C++", 3.5 is not 35.

import { cleanLine } from "../integrity/index.ts"

export const wordingOf = (text: string): string =>
  cleanLine(text)
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[\u2018\u2019\u02bc]/g, "'")
    .replace(/[\u201c\u201d\u201e]/g, '"')
    .replace(/[\s.!…]+$/u, "")
