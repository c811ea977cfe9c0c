// Attachments: images, files and audio of a message, as a page shows them.
// Owns asking for their bytes, and files that are chosen to be sent. Leaves what they may be to the server.
// A1  Their bytes are shown as an image or heard as audio, or kept as a file: no page is ever made of them.

import { useQuery } from "@tanstack/react-query"
import type { MessageView } from "@reverie/server/api"
import { useEffect, useState } from "react"
import { addressOf, bytesAt } from "../../api/client.ts"
import { defined } from "../../api/defined.ts"
import { bytes } from "../../parts/format.ts"
import { Visible } from "../../parts/text.tsx"

type Part = NonNullable<MessageView["parts"]>[number]

const placeOf = ({ digest, mediaType, name }: Part): string =>
  addressOf("GET /v1/blobs/:digest", { params: { digest }, query: { type: mediaType, ...defined({ name }) } })

/** An address of this page for the bytes, gone with what shows it. */
const useBytes = (part: Part, isWanted: boolean): { readonly url?: string; readonly isGone: boolean } => {
  const place = placeOf(part)
  const { data, isError } = useQuery({
    queryKey: ["bytes", part.digest],
    queryFn: ({ signal }) => bytesAt(place, signal),
    enabled: isWanted,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    meta: { live: false }
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (data === undefined) return undefined
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return { isGone: isError, ...defined({ url }) }
}

const nameOf = ({ mediaType, name, type }: Part): string => name ?? `${type} (${mediaType})`

const Picture = ({ part }: { readonly part: Part }) => {
  const { isGone, url } = useBytes(part, true)
  const { digest, height, width } = part
  if (isGone) return <Kept part={part} />
  return (
    <img
      className="said-image"
      data-part={digest}
      alt={nameOf(part)}
      title={nameOf(part)}
      {...defined({ src: url, width, height })}
    />
  )
}

const Sound = ({ part }: { readonly part: Part }) => {
  const { url } = useBytes(part, true)
  return (
    <audio
      className="block w-full"
      controls
      data-part={part.digest}
      aria-label={nameOf(part)}
      {...defined({ src: url })}
    />
  )
}

/** The link is the address itself; with a token the bytes are asked for and kept from here. */
const Kept = ({ part }: { readonly part: Part }) => {
  const [isWanted, want] = useState(false)
  const { url } = useBytes(part, isWanted)
  useEffect(() => {
    if (url === undefined || !isWanted) return
    want(false)
    const link = document.createElement("a")
    link.href = url
    link.download = part.name ?? "file"
    link.click()
  }, [url, isWanted])
  return (
    <a
      href={placeOf(part)}
      data-part={part.digest}
      download={part.name ?? "file"}
      onClick={(event) => {
        event.preventDefault()
        want(true)
      }}
    >
      <Visible text={nameOf(part)} /> <span className="label">{bytes(part.bytes)}</span>
    </a>
  )
}

const Shown = ({ part }: { readonly part: Part }) => {
  switch (part.type) {
    case "image":
      return <Picture part={part} />
    case "audio":
      return <Sound part={part} />
    case "file":
      return <Kept part={part} />
  }
}

/** The parts of a message. */
export const Attachments = ({ parts = [] }: { readonly parts?: ReadonlyArray<Part> | undefined }) =>
  parts.length === 0 ? null : (
    <ul className="said-parts" aria-label="Attached" data-parts={parts.length}>
      {parts.map((part, at) => (
        <li key={at}>
          <Shown part={part} />
        </li>
      ))}
    </ul>
  )

// Chosen: files that go with the next message.

interface Chosen {
  readonly type: "file"
  /** A `data:` URL. */
  readonly data: string
  readonly mediaType: string
  readonly name: string
}

const read = (file: File): Promise<Chosen> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener("error", () => reject(new Error(`${file.name} can not be read`)))
    reader.addEventListener("load", () =>
      resolve({
        type: "file",
        data: typeof reader.result === "string" ? reader.result : "",
        mediaType: file.type === "" ? "application/octet-stream" : file.type,
        name: file.name
      })
    )
    reader.readAsDataURL(file)
  })

/** Files that are chosen or pasted, until they are sent. */
export const useChosen = () => {
  const [chosen, choose] = useState<ReadonlyArray<Chosen>>([])
  const attach = (files: Iterable<File>) =>
    void Promise.all([...files].map(read)).then((more) => choose((before) => [...before, ...more]))
  return { attach, choose, chosen }
}

export const ChosenFiles = ({ choose, chosen }: Pick<ReturnType<typeof useChosen>, "choose" | "chosen">) =>
  chosen.length === 0 ? null : (
    <ul className="flex flex-wrap gap-1.5" aria-label="Files to send" data-chosen={chosen.length}>
      {chosen.map(({ name }, at) => (
        <li key={at}>
          <button
            type="button"
            className="button button-small"
            title="Remove"
            onClick={() => choose(chosen.toSpliced(at, 1))}
          >
            <Visible text={name} /> ×
          </button>
        </li>
      ))}
    </ul>
  )

export const Attach = ({
  attach,
  isOver
}: Pick<ReturnType<typeof useChosen>, "attach"> & { readonly isOver: boolean }) => (
  <label className="button button-small" data-attach="">
    Attach
    <input
      type="file"
      className="sr-only"
      multiple
      disabled={isOver}
      onChange={({ target }) => {
        attach(target.files ?? [])
        target.value = ""
      }}
    />
  </label>
)
