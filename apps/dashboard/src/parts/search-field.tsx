// SearchField: the field that `/` leads to. What is written goes into the URL when one pauses.

import { useEffect, useRef, useState } from "react"

const PAUSE_MILLIS = 180

interface SearchFieldProps {
  readonly value: string | undefined
  readonly label: string
  readonly onSearch: (value: string | undefined) => void
}

export const SearchField = ({ label, onSearch, value = "" }: SearchFieldProps) => {
  const [written, write] = useState(value)
  const [known, know] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  // Someone else has changed the URL: a link, or the way back.
  if (known !== value) {
    know(value)
    write(value)
  }
  useEffect(() => () => clearTimeout(timer.current), [])
  const say = (text: string, millis: number) => {
    write(text)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => onSearch(text.trim() === "" ? undefined : text.trim()), millis)
  }
  return (
    <label className="relative block">
      <span className="sr-only">{label}</span>
      <input
        className="field w-64 pr-8"
        type="search"
        data-search=""
        placeholder={label}
        maxLength={200}
        value={written}
        onChange={({ target }) => say(target.value, PAUSE_MILLIS)}
        onKeyDown={({ currentTarget, key }) => {
          if (key === "Enter") say(written, 0)
          else if (key === "Escape") {
            say("", 0)
            currentTarget.blur()
          }
        }}
      />
      {written === "" ? (
        <kbd className="pointer-events-none absolute top-1/2 right-2 -translate-y-1/2" aria-hidden>
          /
        </kbd>
      ) : null}
    </label>
  )
}
