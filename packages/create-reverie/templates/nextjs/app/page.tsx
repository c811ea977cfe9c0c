"use client"

import { useState } from "react"

export default function Page() {
  const [reply, setReply] = useState("")
  const ask = async (form: FormData) => {
    setReply("")
    const body = JSON.stringify({ text: form.get("text") })
    const { body: answer } = await fetch("/api/chat", { method: "POST", body })
    const reader = answer?.pipeThrough(new TextDecoderStream()).getReader()
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      const { value } = part
      setReply((before) => before + value)
    }
  }
  return (
    <main>
      <form action={ask}>
        <input name="text" aria-label="Message" required /> <button>Ask</button>
      </form>
      <p aria-live="polite">{reply}</p>
    </main>
  )
}
