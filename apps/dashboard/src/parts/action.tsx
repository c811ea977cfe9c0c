// Action: a button that changes something.
// A1  Who has a token that may only look is offered none. Where a form stands without its button, the button says why.

import type { ButtonHTMLAttributes } from "react"
import { useAnswer } from "../api/questions.ts"

/** False of a token that may only look; true until that is known, for the server refuses it all the same. */
export const useMayChange = (): boolean =>
  useAnswer("GET /v1/system", {}, { staleMillis: Infinity }).data?.readOnly !== true

export const Action = ({ type = "button", ...button }: ButtonHTMLAttributes<HTMLButtonElement>) => {
  const mayChange = useMayChange()
  if (mayChange) return <button {...button} type={type} data-action="" />
  return type === "submit" ? (
    <button {...button} type={type} data-action="" disabled title="This token may only look." />
  ) : null
}
