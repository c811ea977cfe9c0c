// Mailbox mutants: every wrong mailbox that the mailbox laws must kill.

import { claimMistakes } from "./claim-mutants.ts"
import { dueMistakes } from "./due-mutants.ts"
import { mailMistakes } from "./mail-mutants.ts"
import { type Mutants, mutantsOf } from "./mutant.ts"
import { noteMistakes } from "./note-mutants.ts"

export const mailboxMutants: Mutants = mutantsOf({
  ...claimMistakes,
  ...noteMistakes,
  ...mailMistakes,
  ...dueMistakes
})
