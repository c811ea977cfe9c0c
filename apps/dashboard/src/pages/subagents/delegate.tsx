// Delegate: hands a task to a new sub-agent, as the assistant's own delegate_task would.

import { useState } from "react"
import { useChange } from "../../api/questions.ts"
import { Section } from "../../parts/page.tsx"
import { Failed } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"

const MAX_TASK_CHARS = 20_000

export const Delegate = ({ id }: { readonly id: string }) => {
  const [task, write] = useState("")
  const { data, error, isPending, mutate } = useChange("POST /v1/assistants/:id/sub-agents")
  return (
    <Section title="Hand a task on">
      <form
        className="space-y-2 p-3"
        onSubmit={(event) => {
          event.preventDefault()
          mutate((key) => ({ params: { id }, payload: { task, id: key } }), { onSuccess: () => write("") })
        }}
      >
        <textarea
          className="field min-h-16 w-full"
          name="task"
          aria-label="The task"
          maxLength={MAX_TASK_CHARS}
          value={task}
          onChange={({ target }) => write(target.value)}
        />
        <div className="flex flex-wrap items-center gap-3">
          <button
            type="submit"
            className="button button-primary"
            disabled={isPending || task.trim() === ""}
            data-delegate=""
          >
            Hand on
          </button>
          {data === undefined ? null : (
            <span className="text-ink-2" role="status">
              <Visible text={data.child} /> works on it.
            </span>
          )}
        </div>
        {error === null ? null : <Failed trouble={error} />}
      </form>
    </Section>
  )
}
