// Words are counted by the vocabulary's own encoder, whose memory deletes its oldest key for each new one.

import encoding from "gpt-tokenizer/encoding/o200k_base"
import { BytePairs } from "../../../packages/adapters/tokens/src/byte-pairs.ts"
import { Generations } from "../../../packages/adapters/tokens/src/generations.ts"

encoding.setMergeCacheSize(10_000)
const noneSpecial = { disallowedSpecial: new Set<string>() }

BytePairs.prototype.tokensOf = (word) => encoding.countTokens(word, noneSpecial)
Generations.prototype.get = () => undefined
