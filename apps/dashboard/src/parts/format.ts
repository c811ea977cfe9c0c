// Format: numbers as people read them.
// M1  Money comes in millionths; what is not nothing is never shown as nothing.

const plain = new Intl.NumberFormat("en", { maximumFractionDigits: 0 })

export const count = (value: number): string => plain.format(value)

/** `812`, `1.2k`, `34k`, `1.2M`. */
export const tokens = (value: number): string => {
  const short = (scaled: number, unit: string) =>
    `${scaled < 10 ? (Math.floor(scaled * 10) / 10).toFixed(1) : Math.floor(scaled)}${unit}`
  if (value < 1_000) return String(Math.round(value))
  if (value < 1_000_000) return short(value / 1_000, "k")
  return short(value / 1_000_000, "M")
}

/** `$0`, `<$0.0001`, `$0.0123`, `$4.20`, `$1,280`. */
export const money = (micros: number): string => {
  const dollars = micros / 1_000_000
  if (micros === 0) return "$0"
  if (dollars < 0.0001) return "<$0.0001"
  if (dollars < 0.1) return `$${dollars.toFixed(4)}`
  if (dollars < 1_000) return `$${dollars.toFixed(2)}`
  return `$${plain.format(dollars)}`
}

/** What calls have cost: `$0` where their price is nothing, `unpriced` where no one has said what their model costs. */
export const costText = (calls: ReadonlyArray<{ readonly costMicros?: number; readonly unpriced?: true }>): string => {
  const micros = calls.reduce((sum, { costMicros = 0 }) => sum + costMicros, 0)
  if (micros > 0) return money(micros)
  if (calls.some(({ unpriced }) => unpriced === true)) return "unpriced"
  return calls.some(({ costMicros }) => costMicros === 0) ? money(0) : ""
}

/** The same of sums: what is unpriced is said beside what has a price. */
export const spentText = (sum: {
  readonly calls: number
  readonly costMicros: number
  readonly unpricedCalls: number
}): string => {
  const { calls, costMicros, unpricedCalls } = sum
  if (unpricedCalls === 0) return money(costMicros)
  return unpricedCalls >= calls ? "unpriced" : `${money(costMicros)} + ${count(unpricedCalls)} unpriced`
}

export const percent = (share: number): string => `${Math.round(share * 100)}%`

/** `1 assistant`, `2 assistants`. */
export const many = (number: number, one: string, more = `${one}s`): string =>
  `${count(number)} ${number === 1 ? one : more}`

export const bytes = (value: number): string => {
  if (value < 1_024) return `${value} B`
  if (value < 1_048_576) return `${(value / 1_024).toFixed(1)} KB`
  return `${(value / 1_048_576).toFixed(1)} MB`
}

/** The servers of a wait, any of which may end it. */
export const serversIn = ({
  others = [],
  server
}: {
  readonly server: string
  readonly others?: ReadonlyArray<string>
}): string => [server, ...others].join(" or ")
