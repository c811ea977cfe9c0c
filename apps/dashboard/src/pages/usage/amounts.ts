// Amounts: what a person writes into a field for money, tokens or calls.

const MICROS = 1_000_000

/** As it stands in a field; empty where nothing bounds it. */
export const fieldOf = (value: number | null | undefined, isMoney: boolean): string =>
  value === null || value === undefined ? "" : String(isMoney ? value / MICROS : value)

/** Null where it is empty; undefined where it is no amount. */
export const amountOf = (text: string, isMoney: boolean): number | null | undefined => {
  if (text.trim() === "") return null
  const value = isMoney ? Math.round(Number(text) * MICROS) : Number(text)
  return Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
