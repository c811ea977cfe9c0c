// Told: a tick in plain sentences, each with how long after its beginning that was; the moment itself is the title.

import { TextView, Visible } from "../../parts/text.tsx"
import { absolute, duration } from "../../parts/time.tsx"
import { type Sentence, storyOf, type View } from "./story.ts"

/** Texts shorter than this stand in the open. */
const SHORT_CHARS = 600

export const Quote = ({ text }: { readonly text: string }) =>
  text.length <= SHORT_CHARS ? (
    <p className="story-quote">
      <Visible text={text} />
    </p>
  ) : (
    <TextView text={text} />
  )

interface ToldProps {
  /** When it began. */
  readonly since: number
  readonly sentence: Sentence
}

export const Told = ({ sentence: { at, kind, quote, says }, since }: ToldProps) => (
  <li className="story-line" data-sentence={kind}>
    <time className="tabular text-ink-3" dateTime={new Date(at).toISOString()} title={absolute(at)}>
      {at === since ? "start" : `${at < since ? "−" : "+"}${duration(Math.abs(at - since))}`}
    </time>
    <div className="min-w-0">
      <p>
        <Visible text={says} />
        {quote === undefined ? "." : ":"}
      </p>
      {quote === undefined ? null : <Quote text={quote} />}
    </div>
  </li>
)

export const Story = ({ view }: { readonly view: View }) => (
  <ol className="space-y-1.5" data-story={view.tick}>
    {storyOf(view).map((sentence, at) => (
      <Told key={at} since={view.beganAt} sentence={sentence} />
    ))}
  </ol>
)
