import { Tokens } from "@reverie/model"
import type { FreshLayer } from "@reverie/testkit"
import { bite, prove } from "@reverie/testkit/prove"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { vi } from "vitest"
import { gptTokenizerLayer } from "../src/index.ts"
import { tokenLaws } from "./token-laws.ts"
import { MAX_RUN } from "../src/counter.ts"
import { tiktokenLayer } from "../src/tiktoken.ts"

// The reference needs seconds to load on a busy machine.
vi.setConfig({ testTimeout: 60_000 })

prove("gpt-tokenizer", tokenLaws, () => gptTokenizerLayer)
prove("js-tiktoken", tokenLaws, () => tiktokenLayer)

type Count = (text: string) => number

/** A wrong adapter: the default one, with its counts bent. */
const bent =
  (bend: (right: Count) => Count): FreshLayer<Tokens> =>
  () =>
    Layer.effect(
      Tokens,
      Effect.map(Tokens, ({ inSlices, ready }) => ({ inSlices, ready: Effect.map(ready, bend) }))
    ).pipe(Layer.provide(gptTokenizerLayer))

/** A wrong adapter: the default one, with its slices bent. */
const bentSlices =
  (bend: (right: Tokens["Service"]) => Tokens["Service"]["inSlices"]): FreshLayer<Tokens> =>
  () =>
    Layer.effect(
      Tokens,
      Effect.map(Tokens, (right) => ({ ...right, inSlices: bend(right) }))
    ).pipe(Layer.provide(gptTokenizerLayer))

bite("token laws", tokenLaws, {
  countsInOnePiece: bentSlices(() => (work) => Effect.sync(work)),
  guessesInSlices: bentSlices(
    ({ inSlices }) =>
      (work) =>
        Effect.map(inSlices(work), (made) => (Array.isArray(made) ? (made.map(() => 1) as typeof made) : made))
  ),
  countsTheEmptyText: bent((right) => (text) => Math.max(1, right(text))),
  guessesByLength: bent(() => (text) => Math.floor(text.length / 4)),
  remembersTooMuch: bent((right) => {
    let calls = 0
    return (text) => right(text) + (text === "" ? 0 : Math.floor(calls++ / 1_000))
  }),
  takesSpecialTextForTokens: bent((right) => (text) => right(text.replaceAll(/<\|\w+\|>/g, "\n"))),
  dropsLoneSurrogates: bent((right) => (text) => right(text.replaceAll(/\p{Cs}/gu, ""))),
  stopsAtNul: bent((right) => (text) => right(text.split("\u0000")[0] ?? "")),
  dropsByteOrderMarks: bent((right) => (text) => right(text.replaceAll("\uFEFF", ""))),
  stopsAtTheFirstCut: bent((right) => (text) => right(text.slice(0, 100 * MAX_RUN))),
  cutsAtEighty: bent((right) => (text) => (text.match(/[^]{1,80}/gu) ?? []).reduce((sum, cut) => sum + right(cut), 0)),
  countsCodePoints: bent((right) => (text) => Array.from(text).reduce((sum, point) => sum + right(point), 0))
})
