// POST /api/chat {"text": "..."}: the answer as it is written, as plain text.

import { openFleet } from "../../../server.ts"

export const runtime = "nodejs"

const textOf = (body: unknown): string => {
  const text: unknown = typeof body === "object" && body !== null ? Reflect.get(body, "text") : undefined
  return typeof text === "string" ? text.trim() : ""
}

export const POST = async (request: Request): Promise<Response> => {
  const text = textOf(await request.json().catch(() => undefined))
  if (text === "") return Response.json({ error: 'send {"text": "..."}' }, { status: 400 })
  const fleet = await openFleet()
  const encoder = new TextEncoder()
  const answer = async function* () {
    let isBegun = false
    for await (const part of fleet.ask("host", text)) {
      if (part.type === "text") yield encoder.encode(part.text)
      if (part.type === "done" && !isBegun) yield encoder.encode(part.reply)
      if (part.type === "failed") yield encoder.encode(`It could not be answered: ${part.error.message}`)
      isBegun ||= part.type === "text"
    }
  }
  const parts = answer()
  const stream = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await parts.next()
      if (done === true) controller.close()
      else controller.enqueue(value)
    },
    // A reader that leaves ends the listening only: the question is durable, and is answered all the same.
    cancel: async () => void (await parts.return())
  })
  return new Response(stream, { headers: { "content-type": "text/plain; charset=utf-8" } })
}
