// History: decisions that were taken of late, as the audit log has them.
// T1  An audit log is of this server and its newest lines: what is older stands in the timelines of the assistants.

import { Link } from "@tanstack/react-router"
import { useAnswer } from "../../api/questions.ts"
import { Chip } from "../../parts/chip.tsx"
import { Section } from "../../parts/page.tsx"
import { Visible } from "../../parts/text.tsx"
import { Ago } from "../../parts/time.tsx"

const LINES = 500
const SHOWN = 50
const ACTION = "approvals.decide"

export const History = () => {
  const audit = useAnswer("GET /v1/audit", { query: { limit: LINES } })
  const decisions = (audit.data?.items ?? []).filter(({ action }) => action === ACTION).slice(0, SHOWN)
  if (decisions.length === 0) return null
  return (
    <Section title="Decided of late" className="max-w-[64rem] overflow-x-auto">
      <table className="plain-table stack-table" data-decisions={decisions.length}>
        <thead>
          <tr>
            {["When", "Who", "Assistant", "Decision", "Outcome"].map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {decisions.map(({ at, outcome, target, who }, line) => {
            // As the server writes it: assistant, approval, decision; no id has a blank.
            const [assistant = "", , decision = ""] = target.split(" ")
            return (
              <tr key={`${at} ${line}`} data-decision={decision}>
                <td className="text-ink-2">
                  <Ago at={at} />
                </td>
                <td data-title="Who">
                  <Visible text={who} />
                </td>
                <td data-title="Assistant">
                  <Link to="/a/$id" params={{ id: assistant }}>
                    <Visible text={assistant} />
                  </Link>
                </td>
                <td data-title="Decision">
                  <Chip tone={decision === "approved" ? "good" : "bad"} text={decision} />
                </td>
                <td className={outcome === "done" ? "text-ink-2" : "font-medium text-bad"} data-title="Outcome">
                  <Visible text={outcome} />
                </td>
              </tr>
            )
          })}
        </tbody>
      </table>
    </Section>
  )
}
