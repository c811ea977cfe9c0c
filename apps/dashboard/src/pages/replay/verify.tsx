// Verify: replays the whole life and says whether its end is what is stored.

import { useState } from "react"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { count, many } from "../../parts/format.ts"
import { Answered } from "../../parts/states.tsx"
import { Visible } from "../../parts/text.tsx"

interface VerifyProps {
  readonly id: string
  readonly onOpen: (no: number) => void
}

export const Verify = ({ id, onOpen }: VerifyProps) => {
  const [asked, ask] = useState(false)
  const verdict = useAnswer(
    "GET /v1/assistants/:id/replay/verify",
    { params: { id } },
    { enabled: asked, staleMillis: 600_000 }
  )
  const verify = () => {
    if (asked) void verdict.refetch()
    ask(true)
  }
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <button type="button" className="button" disabled={verdict.isFetching} onClick={verify} data-verify="">
        {verdict.isFetching ? "Replaying…" : "Verify the whole life"}
      </button>
      {asked ? (
        <Answered of={verdict} lines={1}>
          {({ commits, difference, differsAt, equal, modelCalls, toolCalls }) => (
            <span
              className="flex flex-wrap items-center gap-2"
              data-verdict={equal ? "equal" : "differs"}
              data-commits={commits}
            >
              <Chip tone={equal ? "good" : "bad"} text={equal ? "equal" : "differs"} />
              <span className="text-ink-2">
                {many(commits, "commit")} replayed; {count(modelCalls)} model and {count(toolCalls)} tool calls
              </span>
              {differsAt === undefined ? null : (
                <button
                  type="button"
                  className="button button-small"
                  onClick={() => onOpen(differsAt)}
                  data-differs-at={differsAt}
                >
                  at commit {differsAt}
                </button>
              )}
              {difference === undefined ? null : (
                <span className="text-bad">
                  <Visible text={difference} />
                </span>
              )}
            </span>
          )}
        </Answered>
      ) : null}
    </div>
  )
}
