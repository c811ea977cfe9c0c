// Create: an assistant of a definition that the server knows.
// C1  The dialog is in the address, so that the palette and a link open it.
// C2  One that is there already is not taken for a new one.

import { useNavigate } from "@tanstack/react-router"
import { useRef, useState } from "react"
import { Trouble } from "../../api/client.ts"
import { useAnswer, useChange } from "../../api/questions.ts"
import { ConfirmLater } from "../../parts/dialogs/confirm-later.tsx"
import { Answered } from "../../parts/states.tsx"

interface CreateProps {
  /** The definition that stands in the field first. */
  readonly definition: string | undefined
  readonly onClose: () => void
}

const exists = (id: string) =>
  new Trouble({
    tag: "Conflict",
    status: 409,
    message: `there is an assistant ${id} already`,
    hint: "choose another name"
  })

const Name = ({ name, write }: { readonly name: string; readonly write: (name: string) => void }) => (
  <label className="block space-y-1">
    <span className="label">Name</span>
    <input
      className="field w-full font-mono"
      name="id"
      maxLength={128}
      autoComplete="off"
      value={name}
      onChange={({ target }) => write(target.value)}
    />
  </label>
)

export const CreateAssistant = ({ definition: first, onClose }: CreateProps) => {
  const navigate = useNavigate()
  const system = useAnswer("GET /v1/system", {})
  const { mutateAsync } = useChange("POST /v1/assistants")
  const [name, write] = useState("")
  const [chosen, choose] = useState(first)
  const known = system.data?.definitions.map((each) => each.name) ?? []
  const definition = chosen !== undefined && known.includes(chosen) ? chosen : known[0]
  const id = name.trim()
  const created = useRef(false)
  return (
    <ConfirmLater
      title="Create an assistant"
      verb="Create"
      waiting={id === "" || definition === undefined}
      onClose={() => (created.current ? void navigate({ to: "/a/$id", params: { id } }) : onClose())}
      onConfirm={async () => {
        if (definition === undefined) return
        const { outcome } = await mutateAsync({ payload: { id, definition } })
        if (outcome === "exists") throw exists(id)
        created.current = true
      }}
    >
      <div className="space-y-3" data-create-form="">
        <Name name={name} write={write} />
        <Answered of={system} lines={1}>
          {() =>
            known.length === 0 ? (
              <p>This process knows no definition, so it can create no assistant.</p>
            ) : (
              <label className="block space-y-1">
                <span className="label">Definition</span>
                <select
                  className="field w-full"
                  name="definition"
                  value={definition}
                  onChange={({ target }) => choose(target.value)}
                >
                  {known.map((each) => (
                    <option key={each}>{each}</option>
                  ))}
                </select>
              </label>
            )
          }
        </Answered>
        <p>It has the instructions, tools and model of its definition, and a memory of its own. System shows them.</p>
      </div>
    </ConfirmLater>
  )
}
