// Words are counted by the vocabulary's own encoder, whose memory deletes its oldest key for each new one.

import { createRequire } from "node:module"
import { BytePairs } from "../../../packages/adapters/tokens/src/byte-pairs.ts"
import { Generations } from "../../../packages/adapters/tokens/src/counter.ts"

interface Encoding {
  readonly setMergeCacheSize: (words: number) => void
  readonly countTokens: (text: string, options: { readonly disallowedSpecial: ReadonlySet<string> }) => number
}

// The package is one of the room whose cure this undoes.
const requireThere = createRequire(new URL("../../../packages/adapters/tokens/src/index.ts", import.meta.url))
const encoding = requireThere("gpt-tokenizer/encoding/o200k_base") as Encoding

encoding.setMergeCacheSize(10_000)
const noneSpecial = { disallowedSpecial: new Set<string>() }

BytePairs.prototype.tokensOf = (word) => encoding.countTokens(word, noneSpecial)
Generations.prototype.get = () => undefined
